public import CoreAPI
internal import Foundation

/// The clock of the machine's run, which counts suspension and which nobody can set.
public struct LinuxClock: TimeSource {
    public let bootID: BootID

    public init() {
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
        let digits = text.filter(\.isHexDigit)
        bootID = BootID(
            high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.dropFirst(16), radix: 16) ?? 0)
    }

    public func now() -> BootInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return BootInstant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    public func sleep(until instant: BootInstant) async throws(CancellationError) {
        while now() < instant {
            // Not longer at once: the machine may sleep, and the clock of the tasks does not count that.
            let pause = min(now().duration(to: instant), .seconds(1))
            do { try await Task.sleep(for: pause) } catch { throw CancellationError() }
        }
    }
}
