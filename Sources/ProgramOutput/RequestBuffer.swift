/// The bytes that a peer has sent, and the requests in them.
package struct RequestBuffer: Sendable {
    /// A request, or the reason why there is none.
    package enum Next: Hashable, Sendable {
        /// The bytes of a request. They include the terminator only if a body follows it.
        case request([UInt8])
        /// No request is complete.
        case incomplete
        /// The next request is longer than the limit.
        case tooLong
    }

    /// The bytes that end a request.
    private let terminator: [UInt8]
    /// The longest request, in bytes, without its terminator.
    private let maximumByteCount: Int
    /// Returns how many bytes of a request follow the terminator, by those before it; nil for none.
    private let bodyByteCount: (@Sendable ([UInt8]) -> Int)?
    private var received: [UInt8] = []
    /// The number of bytes in which no terminator begins, so that the search for it looks at each byte once, also where a
    /// peer sends single bytes.
    private var searchedByteCount = 0

    package init(
        terminator: [UInt8], maximumByteCount: Int, bodyByteCount: (@Sendable ([UInt8]) -> Int)? = nil
    ) {
        self.terminator = terminator
        self.maximumByteCount = maximumByteCount
        self.bodyByteCount = bodyByteCount
    }

    /// The number of bytes to append at most before the next call of ``next()``.
    package var capacity: Int { max(1, maximumByteCount + terminator.count - received.count) }

    package mutating func append(_ bytes: [UInt8]) { received += bytes }

    /// Takes the next request.
    package mutating func next() -> Next {
        guard let end = received[searchedByteCount...].firstRange(of: terminator) else {
            searchedByteCount = max(0, received.count - terminator.count + 1)
            return received.count >= maximumByteCount + terminator.count ? .tooLong : .incomplete
        }
        searchedByteCount = end.lowerBound
        let last = end.upperBound + (bodyByteCount?(Array(received[..<end.lowerBound])) ?? 0)
        guard received.count >= last else { return .incomplete }
        let request = Array(received[..<(last > end.upperBound ? last : end.lowerBound)])
        received.removeSubrange(..<last)
        searchedByteCount = 0
        return .request(request)
    }
}
