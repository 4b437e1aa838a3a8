public import CoreAPI
internal import Glibc

/// The machine's own clock: nanoseconds since it started, suspension counted, untouched by the wall clock. It is the same
/// in every time namespace.
public struct SystemClock: TimeSource {
    public init() {}

    /// The identity of this run of the machine.
    public var bootID: BootID { Self.currentBootID }

    public func now() -> BootInstant {
        var time = timespec()
        clock_gettime(Defect.wallClock.isPresent ? CLOCK_REALTIME : CLOCK_BOOTTIME, &time)
        let nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return BootInstant(nanoseconds: UInt64(clamping: nanoseconds &- TimeNamespace.offset))
    }

    /// The clock's tick, some milliseconds long: cheaper to read than the time, and enough to tell that time has passed.
    package static var tick: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The time of CLOCK_MONOTONIC in microseconds, as service managers compare it.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    public func sleep(until instant: BootInstant) async throws(CancellationError) {
        while true {
            let present = now()
            guard present < instant else { return }
            guard await Self.hasSlept(until: instant, from: present) else { throw CancellationError() }
        }
    }

    private static func hasSlept(until instant: BootInstant, from present: BootInstant) async -> Bool {
        if let sleepers = Sleepers.shared { return await sleepers.sleep(until: instant) }
        return (try? await Task.sleep(for: present.duration(to: instant), clock: .continuous)) != nil
    }

    /// All zeros where the kernel does not tell, as in a container without /proc.
    static let currentBootID: BootID = {
        let path = "/proc/sys/kernel/random/boot_id"
        let bytes = (try? OpenFile(path: path, .read).read(count: 64, at: 0)) ?? []
        let digits = bytes.filter { $0 != UInt8(ascii: "-") }
        let text = String(decoding: digits.prefix(32), as: UTF8.self)
        guard let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.dropFirst(16), radix: 16) else {
            return BootID(high: 0, low: 0)
        }
        return BootID(high: high, low: low)
    }()
}
