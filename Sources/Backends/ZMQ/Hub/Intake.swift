internal import CoreAPI
internal import Platform

/// The messages that a hub has received and not answered yet, and the order in which they are answered.
///
/// Turns are shared by the time that answers take: first between the keys that connections proved, then between the
/// connections of one key. So a connection that sends without a pause delays only itself, and others at most by the
/// answer in progress. It is the fair queueing of networks, with time in place of bytes: each connection has a clock
/// that runs while it is served, and the one with the lowest clock is next.
struct Intake {
    /// A connection with waiting messages.
    private struct Line {
        let address: HubAddress
        let user: String
        var messages: [IncomingMessage]
        var served: Duration
        /// How many rounds of other connections' turns have passed since this connection was served, or since it came.
        var passedOver = 0.0
    }

    private var lines: [Line] = []
    /// The clocks of the keys with messages, and of the last one served.
    private var users: [String: Duration] = [:]
    /// The connection that is being served. Its time is charged when its answer has been given.
    private var current: (address: HubAddress, user: String)?
    /// The clocks at the start of the last turn. The clock of a new connection starts at this time, so that no
    /// connection gains turns by waiting.
    private var lineTime = Duration.zero
    private var userTime = Duration.zero
    private(set) var count = 0
    private(set) var byteCount = 0

    /// How many messages are taken in before the earlier ones are answered: further ones wait in the library, and then
    /// at the clients.
    static let limit = 64
    /// A connection that was passed over for this many rounds is next. Otherwise connections that are new with each
    /// message begin with the lowest clock, and could delay a connection with a second message for ever. In a round
    /// each connection of each key could have had a turn, so with answers of equal cost none is passed over for so
    /// long. A connection with more expensive answers may get more than its share of the time by this rule.
    private static let timeout = 2.0
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
        // A local socket accepts only one user.
        let user = message.peer.user ?? ""
        if users[user] == nil { users[user] = userTime }
        lines.append(Line(address: address, user: user, messages: [message], served: lineTime))
    }

    /// Takes out the next message.
    mutating func next() -> (address: HubAddress, message: IncomingMessage)? {
        forgetIdle()
        let overdue = lines.indices.max { lines[$0].passedOver < lines[$1].passedOver }
        let lowest = lines.indices.min { first, second in
            let (first, second) = (lines[first], lines[second])
            let (firstUser, secondUser) = (users[first.user] ?? .zero, users[second.user] ?? .zero)
            return firstUser == secondUser ? first.served < second.served : firstUser < secondUser
        }
        guard let overdue, let lowest else { return nil }
        let isOverdue = lines[overdue].passedOver >= Self.timeout
        let index = isOverdue && !FailPoint.fails("hub.passedOver") ? overdue : lowest
        let turn = 1 / Double(lines.count * max(users.count, 1))
        for other in lines.indices { lines[other].passedOver += turn }
        lines[index].passedOver = 0
        let line = lines[index]
        lineTime = max(lineTime, line.served)
        userTime = max(userTime, users[line.user] ?? .zero)
        current = (line.address, line.user)
        let message = lines[index].messages.removeFirst()
        count -= 1
        byteCount -= message.byteCount
        return (line.address, message)
    }

    /// Counts the time that the last answer has taken. A connection without waiting messages gets a new clock with its
    /// next request. So that request does not wait behind a flood only because the connection's last answer took long.
    mutating func charge(_ time: Duration) {
        guard let current else { return }
        users[current.user]? += time
        guard let index = lines.firstIndex(where: { $0.address == current.address }) else { return }
        if lines[index].messages.isEmpty { lines.remove(at: index) } else { lines[index].served += time }
    }

    mutating func removeAll() { self = Intake() }

    /// Removes connections and keys without messages.
    private mutating func forgetIdle() {
        lines.removeAll { $0.messages.isEmpty }
        guard users.count > 1 else { return }
        let present = Set(lines.map(\.user))
        users = users.filter { present.contains($0.key) }
    }
}
