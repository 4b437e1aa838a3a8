package import CoreAPI
internal import Glibc

/// The time namespace of this process (time_namespaces(7)).
///
/// In a time namespace, the machine's clock has an offset, and so has the start time of every process. This package
/// uses the machine's own times, so that processes in different namespaces agree on them.
package struct TimeNamespace: Hashable, Sendable {
    /// The offset of the clock from that of the machine, in nanoseconds; may be negative.
    let offset: Int64
    /// The offset in the clock ticks in which the system gives the start times of processes.
    var ticks: Int64 { offset / Self.tick }

    /// The length of a tick: USER_HZ is 100 on every architecture that Swift runs on.
    private static let tick: Int64 = 10_000_000

    /// The namespace of this process; nil if the offset cannot be known.
    static let current: TimeNamespace? = {
        // A kernel without time namespaces has no such file.
        guard let text = OpenFile.text(of: "/proc/self/timens_offsets") else { return TimeNamespace(offset: 0) }
        // The file has the offsets for the children of this process. They are its own unless the process has created a
        // namespace and was not started in it.
        guard identity(of: "time") == identity(of: "time_for_children") else { return nil }
        return TimeNamespace(offsets: text)
    }()

    /// The offset of this process's clock; 0 if it cannot be known: see ``requireKnown()``.
    static let offset = current?.offset ?? 0
    static let tickOffset = current?.ticks ?? 0

    private init(offset: Int64) {
        self.offset = offset
    }

    /// Reads lines such as `boottime  -3600  500000000`: seconds and nanoseconds.
    ///
    /// Returns nil for anything else, and for an offset that is not a whole number of ticks: the start times of
    /// processes were rounded after it was added.
    init?(offsets text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "boottime", let seconds = Int64(words[1]), let rest = Int64(words[2])
            else { continue }
            let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, isOver) = product.addingReportingOverflow(rest)
            guard !isTooLarge, !isOver, sum % Self.tick == 0 else { return nil }
            offset = sum
            return
        }
        return nil
    }

    /// Throws if times cannot be converted to those of the machine: processes of other time namespaces would seem to
    /// have ended, and entries would expire at once or never.
    package static func requireKnown() throws(SharedCoreError) {
        guard current == nil else { return }
        throw SharedCoreError(
            .incompatible,
            """
            This process is in a time namespace whose distance from the machine's clock cannot be used: it is not told, or is \
            not a multiple of 10 ms. Start the process outside of the namespace, or with another offset.
            """, at: "/proc/self/timens_offsets")
    }

    private static func identity(of name: String) -> UInt64? {
        var status = stat()
        return stat("/proc/self/ns/\(name)", &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
