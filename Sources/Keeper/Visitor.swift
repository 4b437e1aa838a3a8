internal import KeptSockets
internal import Platform

/// A connection to the keeper.
final class Visitor {
    let socket: MessageSocket
    /// The connection is over, or is to be.
    private(set) var isGone = false

    init(_ socket: MessageSocket) {
        self.socket = socket
    }

    /// Sends a message. Does not wait for a peer that does not read.
    func send(_ message: KeeperMessage, with file: OpenFile? = nil) {
        guard !isGone else { return }
        do throws(SystemCallError) {
            try socket.send(Array(message.text.utf8), with: file)
        } catch {
            isGone = true
        }
    }

    /// The next request; nil when there is none now. What cannot be understood is refused and forgotten.
    func next() -> (KeeperRequest, OpenFile?)? {
        while !isGone {
            switch socket.receive(upTo: KeeperLimits.messageByteCount) {
            case .message(let bytes, let file):
                do throws(KeeperProblem) {
                    return (try KeeperRequest(bytes), file)
                } catch {
                    send(.refused(error))
                }
            case .tooLong:
                send(.refused(KeeperProblem(.tooLong, "a message has \(KeeperLimits.messageByteCount) bytes at most")))
            case .nothing: return nil
            case .end: isGone = true
            }
        }
        return nil
    }
}
