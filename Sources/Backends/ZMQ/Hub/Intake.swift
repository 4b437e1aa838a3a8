internal import CoreAPI

/// The messages that a hub has received and not answered yet, and whose turn it is.
///
/// Turns are shared by the time that answers take: first between the keys that let connections in, then
/// between the connections of one. A connection that sends without a pause so waits for itself alone, and another one
/// for the answer that is being given. It is the fair queueing of networks, with time in place of bytes: each one has a clock that
/// runs while it is served, and the one whose clock is behind has its turn.
struct Intake {
    /// One whose messages wait, with those of it that do.
    private struct Line {
        let address: HubAddress
        let user: String
        var messages: [IncomingMessage]
        var served: Duration
    }

    private var lines: [Line] = []
    /// The clocks of those with messages, and of the last one that had a turn.
    private var users: [String: Duration] = [:]
    /// The last one that had a turn: what was served to it is not known before its answer was given.
    private var current: (address: HubAddress, user: String)?
    /// Where the clocks of the last turn began. A newcomer's clock begins here, so that none saves up turns.
    private var lineTime = Duration.zero
    private var userTime = Duration.zero
    private(set) var count = 0
    private(set) var byteCount = 0

    /// How many messages are taken in before those before them are answered: what is beyond waits in the library, and
    /// then with the clients.
    static let limit = 64
    static let byteLimit = 64 << 20

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.limit || byteCount >= Self.byteLimit }

    mutating func append(_ message: IncomingMessage, from address: HubAddress) {
        count += 1
        byteCount += message.byteCount
        if let index = lines.firstIndex(where: { $0.address == address }) {
            lines[index].messages.append(message)
            return
        }
        // At a local socket only one user is let in.
        let user = message.peer.user ?? ""
        if users[user] == nil { users[user] = userTime }
        lines.append(Line(address: address, user: user, messages: [message], served: lineTime))
    }

    /// Takes out the message whose turn it is.
    mutating func next() -> (address: HubAddress, message: IncomingMessage)? {
        forgetIdle()
        let index = lines.indices.min { first, second in
            let (first, second) = (lines[first], lines[second])
            let (firstUser, secondUser) = (users[first.user] ?? .zero, users[second.user] ?? .zero)
            return firstUser == secondUser ? first.served < second.served : firstUser < secondUser
        }
        guard let index else { return nil }
        let line = lines[index]
        lineTime = max(lineTime, line.served)
        userTime = max(userTime, users[line.user] ?? .zero)
        current = (line.address, line.user)
        let message = lines[index].messages.removeFirst()
        count -= 1
        byteCount -= message.byteCount
        return (line.address, message)
    }

    /// Counts what the answer to the last message has taken. A connection of which nothing more waits begins anew: its next
    /// request does not stand behind a flood because the last answer was a long one.
    mutating func charge(_ time: Duration) {
        guard let current else { return }
        users[current.user]? += time
        guard let index = lines.firstIndex(where: { $0.address == current.address }) else { return }
        if lines[index].messages.isEmpty { lines.remove(at: index) } else { lines[index].served += time }
    }

    mutating func removeAll() { self = Intake() }

    /// Those without messages are not kept.
    private mutating func forgetIdle() {
        lines.removeAll { $0.messages.isEmpty }
        guard users.count > 1 else { return }
        let present = Set(lines.map(\.user))
        users = users.filter { present.contains($0.key) }
    }
}
