public import CoreAPI

/// The state of a keep-alive between two processes: plain values, and bytes for a store or a file.
///
/// Running calls are not in it: they ended with their process, so their intervals are due again.
///
/// Source: contract P4.
public struct KeepAliveRecord: Hashable, Sendable {
    /// A handler.
    public struct Handler: Hashable, Sendable {
        /// The name of the handler.
        public var name: String
        /// The interval of the handler, in nanoseconds.
        public var interval: Int64
        /// The start of its first window, in nanoseconds since the machine started; may be negative.
        public var origin: Int64
        /// The last window in which it ran.
        public var ranIn: Int64
    }

    /// A registration. Times are nanoseconds since the machine started.
    public struct Registration: Hashable, Sendable {
        /// The name of the registration.
        public var name: String
        /// The time that it is valid when it is fresh, in nanoseconds.
        public var lifetime: Int64
        /// The time at which it lapses.
        public var lapsesAt: UInt64
        /// The last time of traffic on its connection.
        public var provenAt: UInt64?
    }

    /// The boot of the machine to which the times belong, as two words.
    public var bootID: [UInt64]
    /// The handlers.
    public var handlers: [Handler]
    /// The registrations.
    public var registrations: [Registration]

    /// The boot of the machine to which the times belong.
    public var boot: BootID? {
        bootID.count == 2 ? BootID(high: bootID[0], low: bootID[1]) : nil
    }
}

extension KeepAliveRecord {
    /// The record as lines of text: the kind of the line, its numbers, and the name.
    public var bytes: [UInt8] {
        var lines = ["keep-alive 1 " + bootID.map(String.init).joined(separator: " ")]
        lines += handlers.map { "handler \($0.interval) \($0.origin) \($0.ranIn) \($0.name)" }
        lines += registrations.map { registration in
            let proven = registration.provenAt.map(String.init) ?? "-"
            return "registration \(registration.lifetime) \(registration.lapsesAt) \(proven) \(registration.name)"
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Reads the record from ``bytes``.
    ///
    /// - Throws: ``LifecycleError/Code/unreadableRecord`` with the invalid line.
    public init(bytes: [UInt8]) throws(LifecycleError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LifecycleError(.unreadableRecord, "The record is not text.", at: "keep-alive record")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let head = lines[0].split(separator: " ")
        guard head.count == 4, head[0] == "keep-alive", head[1] == "1", let high = UInt64(head[2]),
            let low = UInt64(head[3])
        else {
            throw LifecycleError(
                .unreadableRecord, "The record does not begin with “keep-alive 1” and a boot id.",
                at: String(lines[0].prefix(64)))
        }
        self.init(bootID: [high, low], handlers: [], registrations: [])
        for line in lines.dropFirst() {
            guard add(line) else {
                throw LifecycleError(
                    .unreadableRecord, "A line is neither a handler nor a registration.", at: String(line.prefix(64)))
            }
        }
    }

    private mutating func add(_ line: Substring) -> Bool {
        // Split by bytes: a name may begin with a combining mark, which forms one character with the space before it.
        let space = UInt8(ascii: " ")
        let parts = line.utf8.split(separator: space, maxSplits: 4, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard parts.count == 5 else { return false }
        let name = String(parts[4])
        switch parts[0] {
        case "handler":
            guard let interval = Int64(parts[1]), let origin = Int64(parts[2]), let ranIn = Int64(parts[3]) else {
                return false
            }
            handlers.append(Handler(name: name, interval: interval, origin: origin, ranIn: ranIn))
        case "registration":
            guard let lifetime = Int64(parts[1]), let lapsesAt = UInt64(parts[2]) else { return false }
            guard parts[3] == "-" || UInt64(parts[3]) != nil else { return false }
            registrations.append(
                Registration(name: name, lifetime: lifetime, lapsesAt: lapsesAt, provenAt: UInt64(parts[3])))
        default:
            return false
        }
        return true
    }
}
