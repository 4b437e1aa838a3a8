internal import KeptSockets
internal import Platform

/// Asks a keeper. Its calls block: for a thread of its own.
struct KeeperClient: Sendable {
    let place: KeeperPlace
    /// How long a keeper may take to answer.
    var patience = Duration.seconds(5)

    /// A connection; nil when no keeper is there.
    func connect() -> MessageSocket? {
        try? MessageSocket(connectingTo: place.socket)
    }

    /// Asks over a connection of its own.
    ///
    /// - Returns: The answer; nil when no keeper is there or none answered.
    func ask(_ request: KeeperRequest) -> KeeperMessage? {
        connect().flatMap { ask(request, over: $0) }
    }

    func ask(_ request: KeeperRequest, over connection: MessageSocket) -> KeeperMessage? {
        guard (try? connection.send(Array(request.text.utf8))) != nil,
            Poll.wait(for: [connection.descriptor], timeout: patience)[0],
            case .message(let bytes, _) = connection.receive(upTo: KeeperLimits.messageByteCount)
        else { return nil }
        return KeeperMessage(bytes)
    }

    /// What the keeper says of itself and of Main; nil when no keeper is there.
    func status() -> KeeperStatus? {
        guard case .status(let status) = ask(.status) else { return nil }
        return status
    }
}
