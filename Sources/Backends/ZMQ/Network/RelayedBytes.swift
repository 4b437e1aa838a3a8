internal import Platform

/// The bytes on their way in one direction of a connection.
struct RelayedBytes {
    enum Progress: Equatable {
        /// No more has arrived.
        case waiting
        /// The receiving end accepts no more for now.
        case blocked
        /// The allowance is used up, and more bytes may be waiting.
        case stopped
        /// No more will arrive.
        case ended
        /// The receiving end has closed.
        case closed
    }

    /// Received bytes that were not sent yet.
    private var rest: ArraySlice<UInt8> = []
    private var isSourceEnded = false
    /// How many of the first bytes are not passed on, because the other end has them already.
    private var skipped: Int

    init(_ first: [UInt8] = [], skipping skipped: Int = 0) {
        rest = first[...]
        self.skipped = skipped
    }

    var isEmpty: Bool { rest.isEmpty }

    /// Moves the bytes that are available now.
    ///
    /// - Parameters:
    ///   - allowance: How many bytes may be received.
    ///   - buffer: Holds the bytes in between.
    ///   - moved: Is increased by the number of bytes sent.
    mutating func move(
        from source: StreamConnection, to target: StreamConnection, allowance: Int,
        through buffer: UnsafeMutableRawBufferPointer, moved: inout Int
    ) -> Progress {
        var left = allowance
        while true {
            if !rest.isEmpty {
                guard let count = rest.withUnsafeBytes({ target.sendSome($0) }) else { return .closed }
                moved += count
                rest.removeFirst(count)
                guard rest.isEmpty else { return .blocked }
                rest = []
            }
            if isSourceEnded { return .ended }
            guard left > 0 else { return .stopped }
            guard let count = source.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left))) else {
                return .waiting
            }
            if count == 0 {
                isSourceEnded = true
                return .ended
            }
            left -= count
            let known = min(skipped, count)
            skipped -= known
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[known..<count])
            if bytes.isEmpty { continue }
            guard let sent = target.sendSome(bytes) else { return .closed }
            moved += sent
            if sent < bytes.count { rest = ArraySlice(bytes.dropFirst(sent)) }
        }
    }
}
