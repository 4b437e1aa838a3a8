internal import CoreAPI
internal import Platform

/// What a process knows of its keeper and has told it.
struct KeeperLink {
    /// A request that waits for its answer.
    struct Request {
        /// The sockets that have come for it so far.
        var found: [KeptSocket] = []
        let answer: @Sendable (Result<[KeptSocket], SharedCoreError>) -> Void

        func fail(_ error: SharedCoreError) { answer(.failure(error)) }
    }

    var connection: MessageSocket?
    /// In the order in which they were sent, which is that of the answers.
    var waiting: [Request] = []
    var isClosed = false

    // What the next keeper is told.

    var kept: [String: OpenFile] = [:]
    var isAsleep = false
    var calls = 0
}
