internal import CoreAPI
internal import FoundationEssentials
internal import Platform

/// Turns instants of the machine's run into dates and times.
///
/// The wall clock is read once, so that all times of one output are consistent. If the wall clock was set after an
/// instant, the printed time is wrong by that change.
struct WallTime: Sendable {
    private let clock = SystemClock()
    private let now: BootInstant
    private let date: Date

    init() {
        now = clock.now()
        date = Date.now
    }

    /// Returns date and time as scripts read them, ISO 8601 in UTC with milliseconds: `2026-03-02T12:00:00.000Z`. Nil
    /// for an instant of another run.
    func text(of instant: BootInstant, in bootID: BootID) -> String? {
        date(of: instant, in: bootID)?.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Returns the local date and time with milliseconds, `2026-03-02 13:00:00.000`; for an instant of another run, how
    /// long it was after the beginning of that run.
    func localText(of instant: BootInstant, in bootID: BootID) -> String {
        guard let date = date(of: instant, in: bootID) else {
            return "earlier run +\(instant.nanoseconds / 1_000_000_000)s"
        }
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded(.down))
        let parts = LocalTime(secondsSince1970: milliseconds / 1000)
        return "\(parts.year)-\(parts.month.digits(2))-\(parts.day.digits(2)) "
            + "\(parts.hour.digits(2)):\(parts.minute.digits(2)):\(parts.second.digits(2))"
            + ".\((milliseconds % 1000).digits(3))"
    }

    /// Returns how long ago an instant was, for people.
    func age(of instant: BootInstant) -> String { text(of: instant.duration(to: now)) }

    /// Returns the time until an instant of this boot; nil if it has passed.
    func left(until instant: BootInstant) -> String? {
        instant > now ? text(of: now.duration(to: instant)) : nil
    }

    private func text(of duration: Duration) -> String {
        let seconds = duration.components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        default: "\(seconds / 3600) h"
        }
    }

    private func date(of instant: BootInstant, in bootID: BootID) -> Date? {
        guard bootID == clock.bootID else { return nil }
        let nanoseconds = Double(now.nanoseconds) - Double(instant.nanoseconds)
        return date.addingTimeInterval(-nanoseconds / 1_000_000_000)
    }
}

extension Int {
    /// Returns the number with zeros in front, up to a width.
    fileprivate func digits(_ width: Int) -> String {
        var text = String(self)
        while text.count < width { text = "0" + text }
        return text
    }
}
