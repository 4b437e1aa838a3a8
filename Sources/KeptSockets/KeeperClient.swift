package import CoreAPI
package import Platform

/// Sends requests to a keeper. Its calls block, so they need a thread of their own.
package struct KeeperClient: Sendable {
    package let place: KeeperPlace
    /// The time that a keeper may take to answer.
    package var timeout = Duration.seconds(5)

    package init(place: KeeperPlace) {
        self.place = place
    }

    /// Returns a connection; nil when no keeper is there.
    package func connect() -> MessageSocket? {
        try? MessageSocket(connectingTo: place.socket)
    }

    /// Sends a request over a new connection.
    ///
    /// - Returns: The answer; nil if there is no keeper or it does not answer.
    package func ask(_ request: KeeperRequest) -> KeeperMessage? {
        connect().flatMap { ask(request, over: $0) }
    }

    package func ask(_ request: KeeperRequest, over connection: MessageSocket) -> KeeperMessage? {
        guard (try? connection.send(Array(request.text.utf8))) != nil,
            Poll.wait(for: [connection.descriptor], timeout: timeout)[0],
            case .message(let bytes, _) = connection.receive(upTo: KeeperLimits.messageByteCount)
        else { return nil }
        return KeeperMessage(bytes)
    }

    /// Returns the status of the keeper and of Main; nil when no keeper is there.
    package func status() -> KeeperStatus? {
        guard case .status(let status) = ask(.status) else { return nil }
        return status
    }

    /// Tells the keeper that the holder of Main's ownership has woken Main, so that the budget of a wake and the
    /// watchdog apply, even if the wake does not reach Main.
    ///
    /// - Parameter main: The process of the Main that rests.
    /// - Returns: True if this is the keeper of that Main; false also if there is no keeper.
    package func mainWasWoken(_ main: ProcessIdentity) -> Bool {
        ask(.woken(pid: main.pid, startTime: main.startTime)) == .done
    }
}
