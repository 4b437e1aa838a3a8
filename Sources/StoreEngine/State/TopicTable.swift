package import CoreAPI

/// The notification names of a store and the state of each, with the rule by which a name is forgotten.
///
/// A name with a state word of 0 has no other content than that it was posted. If there are too many of these names, or
/// they have too many bytes, those with the oldest last post are forgotten. Names of one commit are forgotten in the
/// order of their bytes. A name with another state word stays. The rule depends on nothing else, so every replica keeps
/// the same names.
struct TopicTable: Sendable {
    /// The maximum size of all names together, in bytes.
    static let byteLimit = 4 << 20

    private(set) var byteCount = 0
    /// The summary of the forgotten names.
    var forgotten = ForgottenNames()

    private var topics: [NotificationName: TopicState] = [:]
    /// The number of names with a state word other than 0.
    private var statefulCount = 0
    private var statefulByteCount = 0
    /// The names to forget next, in reverse order. Names that were posted since the list was made are skipped.
    private var candidates: [(name: NotificationName, revision: Revision)] = []

    var count: Int { topics.count }
    var names: some Collection<NotificationName> { topics.keys }

    subscript(name: NotificationName) -> TopicState? { topics[name] }

    /// Sets the state of a name; returns the state before.
    mutating func update(_ topic: TopicState, under name: NotificationName) -> TopicState? {
        let known = topics.updateValue(topic, forKey: name)
        if let known { count(known, under: name, by: -1) }
        count(topic, under: name, by: 1)
        return known
    }

    private mutating func count(_ topic: TopicState, under name: NotificationName, by sign: Int) {
        let bytes = sign * name.text.utf8.count
        byteCount += bytes
        guard topic.state != 0 else { return }
        statefulCount += sign
        statefulByteCount += bytes
    }

    /// Returns whether these names fit after all other names with a state word of 0 are forgotten.
    func hasRoom(for posted: Set<NotificationName>) -> Bool {
        var count = statefulCount
        var byteCount = statefulByteCount
        for name in posted where (topics[name]?.state ?? 0) == 0 {
            count += 1
            byteCount += name.text.utf8.count
        }
        return count <= StoreState.topicLimit && byteCount <= Self.byteLimit
    }

    /// Forgets the next name if there are too many; returns nil otherwise.
    ///
    /// - Parameter revision: The commit that is being applied. Its names stay.
    mutating func forget(before revision: Revision) -> (name: NotificationName, topic: TopicState)? {
        guard count > StoreState.topicLimit || byteCount > Self.byteLimit else { return nil }
        var isRenewed = false
        while true {
            while let candidate = candidates.popLast() {
                // A name that was posted again is newer than all others.
                guard let topic = topics[candidate.name], topic.revision == candidate.revision else { continue }
                topics[candidate.name] = nil
                count(topic, under: candidate.name, by: -1)
                forgotten.add(topic)
                return (candidate.name, topic)
            }
            if isRenewed { return nil }
            isRenewed = true
            candidates = topics.lazy.filter { $0.value.state == 0 && $0.value.revision < revision }
                .map { (name: $0.key, revision: $0.value.revision) }
                .sorted { ($1.revision, $1.name) < ($0.revision, $0.name) }
        }
    }
}

/// The summary of the names that a store has forgotten.
package struct ForgottenNames: Sendable, Hashable {
    /// The highest revision of their last posts.
    package internal(set) var lastPost: Revision = .zero
    /// The highest count of their posts. A name begins with this count, so that no name's count ever decreases.
    package internal(set) var highestCount: UInt64 = 0

    mutating func add(_ topic: TopicState) {
        lastPost = max(lastPost, topic.revision)
        highestCount = max(highestCount, topic.count)
    }
}

/// The state of a notification's name in a replica.
package struct TopicState: Sendable, Equatable {
    package internal(set) var state: UInt64
    package internal(set) var count: UInt64
    package internal(set) var revision: Revision
    package internal(set) var origin: SessionID
    /// The count with which the name began: above zero if names had been forgotten before.
    package internal(set) var firstCount: UInt64

    package init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID, firstCount: UInt64 = 0) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
        self.firstCount = firstCount
    }

    /// The state as presented to users.
    package var notificationState: NotificationState {
        NotificationState(state: state, count: count, revision: revision, origin: origin)
    }
}
