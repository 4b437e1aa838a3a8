public import CoreAPI

/// Passes typed messages between the processes of a group.
///
/// What was sent while the other side was away is there when it comes: a ``MailboxID`` keeps the last message, a
/// ``QueueID`` all of them until each is acknowledged, whoever is running.
///
/// ```swift
/// let wormhole = Wormhole(group)
/// try await wormhole.send(Position(latitude: 52.5, longitude: 13.4), to: .position)
///
/// for try await event in try await wormhole.listen(to: .position, replay: .latest) {
///     if case .message(let message) = event { show(message.value) }
/// }
/// ```
///
/// Source: contract M.
public struct Wormhole: Sendable {
    /// The group that the messages stand in.
    public let group: any SharedGroup
    let root: WormholeRoot

    /// A wormhole in a group. Nothing is created until the first message is sent.
    ///
    /// - Parameters:
    ///   - group: This participant's own handle: what it takes from queues lives with its session.
    ///   - directory: Any text. Wormholes with different ones never see each other's mailboxes; nil is one as well.
    public init(_ group: any SharedGroup, directory: String? = nil) {
        self.group = group
        self.root = WormholeRoot(directory: directory)
    }

    func place<Message>(of id: MailboxID<Message>) throws(SharedCoreError) -> LatestPlace {
        try LatestPlace(path: root.path(of: .latest, id.name))
    }

    func place<Message>(of id: QueueID<Message>) throws(SharedCoreError) -> QueuePlace {
        try QueuePlace(path: root.path(of: .queue, id.name))
    }
}
