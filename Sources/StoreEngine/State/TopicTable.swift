public import CoreAPI

/// The notification names of a store and the state of each, with the rule by which a name is forgotten.
///
/// A name whose state word is 0 only says that it was posted. When there are too many names, or they have too many
/// bytes, those are forgotten whose last post is the oldest; among names of one commit, in the order of their bytes. A
/// name with a state word stays. Every replica comes to the same names, because nothing else decides.
struct TopicTable: Sendable {
    /// The most bytes of all names.
    static let byteLimit = 4 << 20

    private(set) var byteCount = 0
    /// The summary of the names that were forgotten.
    var forgotten = ForgottenNames()

    private var topics: [NotificationName: TopicState] = [:]
    /// The names with a state word.
    private var statefulCount = 0
    private var statefulByteCount = 0
    /// Names to forget, the last of them first. Those that were posted since are passed over.
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

    /// Returns whether a commit that posts these names leaves no more than there may be, once all others without a
    /// state word are forgotten.
    func hasRoom(for posted: Set<NotificationName>) -> Bool {
        var count = statefulCount
        var byteCount = statefulByteCount
        for name in posted where (topics[name]?.state ?? 0) == 0 {
            count += 1
            byteCount += name.text.utf8.count
        }
        return count <= StoreState.topicLimit && byteCount <= Self.byteLimit
    }

    /// Forgets the next name, if there are too many; nil when none is to be forgotten.
    ///
    /// - Parameter revision: The commit that is being applied, whose names stay.
    mutating func forget(before revision: Revision) -> (name: NotificationName, topic: TopicState)? {
        guard count > StoreState.topicLimit || byteCount > Self.byteLimit else { return nil }
        var isRenewed = false
        while true {
            while let candidate = candidates.popLast() {
                // One that was posted again is younger than all that are left.
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
public struct ForgottenNames: Sendable, Hashable {
    /// None of them was posted after this revision.
    public internal(set) var lastPost: Revision = .zero
    /// None of them was posted more often. A name begins with this count, so that the count of no name ever falls.
    public internal(set) var highestCount: UInt64 = 0

    mutating func add(_ topic: TopicState) {
        lastPost = max(lastPost, topic.revision)
        highestCount = max(highestCount, topic.count)
    }
}

/// The state that a replica keeps under a notification's name.
public struct TopicState: Sendable, Equatable {
    public internal(set) var state: UInt64
    public internal(set) var count: UInt64
    public internal(set) var revision: Revision
    public internal(set) var origin: SessionID
    /// The count with which the name began: above zero when names had been forgotten before.
    public internal(set) var firstCount: UInt64

    package init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID, firstCount: UInt64 = 0) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
        self.firstCount = firstCount
    }

    /// The state as users see it.
    public var notificationState: NotificationState {
        NotificationState(state: state, count: count, revision: revision, origin: origin)
    }
}
