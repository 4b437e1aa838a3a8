internal import Platform

/// The bytes on their way in one direction of a connection.
struct RelayedBytes {
    enum Progress: Equatable {
        /// Nothing more has come.
        case waiting
        /// The receiving end takes no more for now.
        case blocked
        /// More may be there than was allowed to be moved.
        case stopped
        /// Nothing more will come.
        case ended
        /// The receiving end is gone.
        case closed
    }

    /// What was received and not sent yet.
    private var rest: ArraySlice<UInt8> = []
    private var isSourceEnded = false
    /// How many of the bytes that come first are not passed on, because the other end has them already.
    private var skipped: Int

    init(_ first: [UInt8] = [], skipping skipped: Int = 0) {
        rest = first[...]
        self.skipped = skipped
    }

    var isEmpty: Bool { rest.isEmpty }

    /// Moves what there is.
    ///
    /// - Parameters:
    ///   - allowance: How many bytes may be received.
    ///   - buffer: Where they stand meanwhile.
    ///   - moved: Is raised by the number of bytes that were sent.
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
