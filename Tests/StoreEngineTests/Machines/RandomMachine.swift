internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestSupport

/// A state that is driven by random commands of all kinds, and the resulting effects.
struct RandomMachine {
    private(set) var state: StoreState
    /// Everything that was applied, in its order.
    private(set) var effects: [Effect] = []
    private(set) var now = BootInstant(nanoseconds: 1_000)

    private var random: SeededRandom
    private var sessions: [SessionID] = []
    private var requestNumber: UInt64 = 0
    private var delivery: UInt64 = 0
    private let vocabulary: Vocabulary
    private var longTexts: [String] = []

    static let limits = Limits(valueByteCount: 2_000, transactionByteCount: 6_000, storeByteCount: 20_000)
    /// The limits of a machine with long texts: values that share a record of a snapshot, and larger ones.
    static let wideLimits = Limits(valueByteCount: 9_000, transactionByteCount: 20_000, storeByteCount: 200_000)

    /// The keys, names and descriptions that the commands use.
    enum Vocabulary {
        /// A few, so that commands meet on the same keys.
        case few
        /// The same, and ever more values of all lengths.
        case growing
    }

    init(seed: Seed, historyByteCount: Int = 1 << 20, vocabulary: Vocabulary = .few) {
        let limits = vocabulary == .few ? Self.limits : Self.wideLimits
        state = StoreState(limits: limits, historyByteCount: historyByteCount)
        random = SeededRandom(seed)
        self.vocabulary = vocabulary
    }

    /// Runs a number of commands.
    mutating func run(_ count: Int) {
        for _ in 0..<count { step() }
    }

    private mutating func step() {
        now = now.advanced(by: .nanoseconds(Int64.random(in: 0...2_000_000_000, using: &random)))
        while let effect = state.expiry(at: now) { apply(effect) }
        switch Int.random(in: 0..<40, using: &random) {
        case 0, 1:
            open()
        case 2 where !sessions.isEmpty:
            let session = sessions.remove(at: Int.random(in: 0..<sessions.count, using: &random))
            if let effect = state.ending(session, at: now) { apply(effect) }
        case 3 where random.once(in: vocabulary == .few ? 20 : 4):
            now = BootInstant(nanoseconds: 5)
            apply(state.restarting(in: BootID(high: random.next(), low: random.next()), at: now))
            sessions = []
        default:
            if sessions.isEmpty { open() }
            let session = sessions[Int.random(in: 0..<sessions.count, using: &random)]
            let transaction = transaction()
            let decision = try? state.decide(transaction, of: session, delivery: nextDelivery(), at: now)
            guard case .record(let effect, _) = decision else { return }
            apply(effect)
        }
    }

    /// Every other request comes through a hub.
    private mutating func nextDelivery() -> UInt64? {
        guard random.once(in: 2) else { return nil }
        delivery += 1
        return delivery
    }

    private mutating func open() {
        let process = ProcessIdentity(
            bootID: BootID(high: 1, low: 2), pid: Int32.random(in: 1...99, using: &random), startTime: random.next())
        var description = SessionDescription(
            role: random.once(in: 2) ? .main : .executor, name: "nâme \(sessions.count)")
        if let text = longText() { description.name = text }
        let most = vocabulary == .few ? 9 : 300
        let opening = SessionOpening(
            process: process, description: description,
            backendData: random.bytes(Int.random(in: 0...most, using: &random)))
        let effect = state.opening(opening, at: now)
        apply(effect)
        sessions.append(SessionID(rawValue: effect.revision.rawValue))
    }

    private mutating func apply(_ effect: Effect) {
        state.apply(effect)
        effects.append(effect)
    }

    private static let keys: [Key] = ["a", "a/b", "a/b/c", "a/bc", "b", "b/\0", "é", "e\u{301}", "😀/x", "z/z/z"]
    private static let prefixes: [KeyPrefix] = ["a", "a/b", "a/b/", "b", "😀", "none"]
    private static let names: [NotificationName] = ["news", "a/b", "é"]

    /// A text of 1 to 512 bytes, often one that was used before; nil if the caller must take one of the few short texts.
    private mutating func longText() -> String? {
        guard vocabulary == .growing, !random.once(in: 4) else { return nil }
        if longTexts.isEmpty || random.once(in: 4) {
            let most = random.once(in: 2) ? 40 : Key.maximumByteCount
            var text = ["inbox/", "k", "é/"][Int.random(in: 0..<3, using: &random)]
            let count = Int.random(in: text.utf8.count...most, using: &random)
            while true {
                let next = ["a", "Z", "/", "é", "😀", "\(random.next() % 10)"][Int.random(in: 0..<6, using: &random)]
                guard text.utf8.count + next.utf8.count <= count else { break }
                text += next
            }
            longTexts.append(text)
        }
        return longTexts[Int.random(in: 0..<longTexts.count, using: &random)]
    }

    private mutating func key() -> Key {
        if let text = longText(), let key = try? Key(text) { return key }
        return Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
    }

    private mutating func name() -> NotificationName {
        if let text = longText(), let name = try? NotificationName(text) { return name }
        return Self.names[Int.random(in: 0..<3, using: &random)]
    }

    mutating func transaction() -> Transaction {
        var transaction = Transaction()
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let key = key()
            let entry = state.entry(key)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: transaction.require(entry == nil ? .absent(key) : .exists(key))
            case 1: transaction.require(.revision(key, entry?.revision ?? Revision(rawValue: 1)))
            case 2: transaction.require(.epoch(key, entry?.creationRevision ?? Revision(rawValue: 1)))
            case 3: transaction.require(.absent(key))
            default: break
            }
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: transaction.delete(key())
            case 2: transaction.deleteAll(under: Self.prefixes[Int.random(in: 0..<Self.prefixes.count, using: &random)])
            case 3:
                transaction.post(name(), state: random.once(in: 2) ? random.next() : nil)
            default:
                let most = vocabulary == .few ? 2_100 : 9_100
                let size =
                    random.once(in: 10)
                    ? Int.random(in: 0...most, using: &random) : Int.random(in: 0...60, using: &random)
                transaction.put(key(), random.bytes(size), lifetime: lifetime())
            }
        }
        if random.once(in: 3) {
            if !random.once(in: 4) { requestNumber += 1 }
            transaction.requestNumber = requestNumber
        }
        return transaction
    }

    private mutating func lifetime() -> Lifetime {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .session
        case 1: .expiring(after: .nanoseconds(Int64.random(in: 1...60_000_000_000, using: &random)))
        default: .persistent
        }
    }
}
