internal import Glibc

/// The machine's clock, in nanoseconds since it started.
enum Moment {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    static func sleep(milliseconds: UInt64) {
        usleep(UInt32(milliseconds) * 1000)
    }
}
