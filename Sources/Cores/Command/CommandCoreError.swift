/// The error for which the program of a ``CommandCore`` cannot run as a core, or was ended.
///
/// ``code`` is for programs, ``message`` for users. The timeline has both, after “its core failed”.
///
/// Source: contract E1, P14.
public struct CommandCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let code: Code
    /// The fault in a sentence, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}

extension CommandCoreError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case notFound, notExecutable, ended, startTimeout, startRefused, closed, malformed, tooLong, version,
                leftover
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// The program does not exist.
        public static let notFound = Code(.notFound)
        /// The program exists, but cannot be executed.
        public static let notExecutable = Code(.notExecutable)
        /// The program has ended without being told to.
        public static let ended = Code(.ended)
        /// The program has not answered `start` in time.
        public static let startTimeout = Code(.startTimeout)
        /// The program has answered `start` with an error.
        public static let startRefused = Code(.startRefused)
        /// The program has closed its input or its output, and continues to run.
        public static let closed = Code(.closed)
        /// The program has printed a line that is not a message, or an answer without a request.
        public static let malformed = Code(.malformed)
        /// The program has printed a line that is too long.
        public static let tooLong = Code(.tooLong)
        /// The program speaks another version of the protocol.
        public static let version = Code(.version)
        /// A program of a former core, or a command of `exclusive`, still runs, and this process cannot end it.
        public static let leftover = Code(.leftover)
    }
}
