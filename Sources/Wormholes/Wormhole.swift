public import CoreAPI
internal import Mailboxes
internal import WormholeFormat

/// Passes typed messages between the processes of a group.
///
/// A message that was sent while the receiver did not run waits for it: a ``MailboxID`` keeps the last message, a
/// ``QueueID`` all of them until each is acknowledged.
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
    /// The group that contains the messages.
    public let group: any SharedGroup
    let root: WormholeRoot

    /// Makes a wormhole in a group. Nothing is created until the first message is sent.
    ///
    /// - Parameters:
    ///   - group: This participant's own handle: its takes from queues live with its session.
    ///   - directory: Any text. Wormholes with different directories never see each other's mailboxes; nil is a
    ///     directory of its own.
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

extension Wormhole {
    /// Clears every mailbox and queue of this wormhole, one after the other. Requests that wait for an answer stay, as
    /// does everything of other wormholes and of the dictionary.
    ///
    /// - Returns: The number of those that were not empty.
    @discardableResult
    public func clearAll() async throws(WormholeError) -> Int {
        try await inStore { () async throws(SharedCoreError) in
            var count = 0
            for path in try await paths(of: .latest) where try await clear(LatestPlace(path: path)) { count += 1 }
            for path in try await paths(of: .queue) where try await clear(QueuePlace(path: path)) { count += 1 }
            return count
        }
    }

    private func paths(of kind: WormholeRoot.Kind) async throws(SharedCoreError) -> [String] {
        let path = root.path(of: kind)
        var paths: [String] = []
        for entry in try await group.list(KeyPrefix(path)).entries {
            // The keys of one mailbox follow each other, because a snapshot lists keys in order.
            let part = entry.key.text.dropFirst(path.count).prefix { $0 != "/" }
            if paths.last != path + part { paths.append(path + part) }
        }
        return paths
    }
}
