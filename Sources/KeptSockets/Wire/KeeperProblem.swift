/// Why a keeper does not do what it was asked.
package struct KeeperProblem: Error, Hashable, Sendable {
    package enum Code: String, Hashable, Sendable {
        /// The message cannot be understood.
        case malformed
        /// The message is longer than what is taken.
        case tooLong
        /// A socket must come with the message.
        case noSocket
        /// As many sockets are kept as can be.
        case tooMany
        /// No socket of the name is kept.
        case unknown
        /// Only Main may ask that, and whoever asks is not Main.
        case notMain
        /// Another process is connected as Main.
        case busy
        /// The system refused it.
        case system
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
