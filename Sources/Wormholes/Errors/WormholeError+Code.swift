extension WormholeError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case encodingFailed, undecodable, timeout, refused, store
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// The codec could not write a message. Nothing was sent.
        public static let encodingFailed = Code(.encodingFailed)
        /// A message cannot be read here; see ``WormholeError/undecodable``.
        public static let undecodable = Code(.undecodable)
        /// No reply came within the given time. The request may have been answered since.
        public static let timeout = Code(.timeout)
        /// Whoever answers refused the request, or could not read it; the message says why.
        public static let refused = Code(.refused)
        /// The group's store failed; see ``WormholeError/cause``.
        public static let store = Code(.store)
    }
}
