internal import Glibc

/// A moment as a clock on the wall shows it, in the time zone of this process. The C library knows all forms of `TZ`, of which Foundation
/// knows the names of zones alone.
package struct LocalTime: Hashable, Sendable {
    package let year: Int
    /// From 1 on.
    package let month: Int
    /// From 1 on.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    package init(secondsSince1970 seconds: Int) {
        var time = time_t(seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    }
}
