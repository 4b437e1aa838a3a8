/// The identity of a process: boot id, process id and start time. The kernel uses a process id again, so the id alone
/// does not identify a process.
///
/// Source: contract L2.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The boot of the machine in which the process runs.
    public let bootID: BootID
    /// The process id.
    public let pid: Int32
    /// The time at which the process started, in clock ticks since the machine's start; 0 if it is not known.
    public let startTime: UInt64

    public init(bootID: BootID, pid: Int32, startTime: UInt64) {
        self.bootID = bootID
        self.pid = pid
        self.startTime = startTime
    }

    public var description: String { String(pid) }
}

/// The identity of one boot of a machine, which lasts from its start to its stop: 16 bytes.
public struct BootID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the id of 16 bytes, as ``bytes`` has them; nil for another number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
    }

    /// The 16 bytes of the id: those of ``high``, then those of ``low``.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// Parses the text of ``description``: 32 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.dropFirst(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    public var description: String { high.hexadecimal + low.hexadecimal }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits, so that the texts have the same order as the numbers.
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
