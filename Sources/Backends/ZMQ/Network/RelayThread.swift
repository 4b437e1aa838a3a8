internal import CoreAPI
internal import Platform
internal import Synchronization

/// The state of the relay's thread, and its work each time it wakes.
struct RelayThread: ~Copyable {
    static let requestsKey = UInt64.max
    static let streamKey = UInt64.max - 1
    static let wakeUpKey = UInt64.max - 2
    static let timerKey = UInt64.max - 3

    /// How many bytes a connection may send to the hub before its key is proved and a hello accepted.
    static let strangerByteLimit = 16 << 10
    /// How many bytes a connection of the stream may send at first, for each second, and in all. Its handshake and its
    /// subscriptions take less than a KiB, and libzmq's heartbeats less than 20 bytes a second. The limit exists because
    /// libzmq walks through the subscriptions of all connections when one ends. A client reaches it after
    /// about an hour, and reconnects.
    static let streamFirstByteCount = 2 << 10
    static let streamByteRate = 32
    static let streamByteLimit = 64 << 10
    /// The library's part of a handshake, as far as it is the same for an allowed and a refused key: greeting, WELCOME
    /// and the longer ERROR (RFC 23 and 26 of ZeroMQ). A socket that sends more has accepted the key.
    static let handshakeByteCount = 64 + 170 + 12
    /// How many connections wait for their first bytes, or for a place, if the process may have enough descriptors.
    static let lobbyLimit = 1_024
    /// How many connections are accepted before other work has its turn.
    private static let turnAcceptCount = 64
    /// How many connections get a place before other work has its turn.
    private static let turnAdmissionCount = 16
    /// How many bytes one connection moves before the others have their turn.
    private static let turnByteCount = 64 << 10
    /// How often deadlines are checked.
    static let lookInterval = Duration.milliseconds(250)
    /// The descriptors that one connection takes in the process: its own, both ends of the local one, the socket at
    /// which the library waits for it, and the library's signal.
    private static let descriptorCount = 5
    /// The maximum number of descriptors that are left for other uses.
    private static let spareDescriptorCount = 512

    /// Both ends of a connection, and the bytes in transit.
    private final class Line {
        let connection: RelayedConnection
        let outer: StreamConnection
        let inner: StreamConnection
        let begun: BootInstant
        var up: RelayedBytes
        /// Skip the library's greeting, because the lobby has already sent it.
        var down = RelayedBytes(skipping: Handshake.greetingByteCount)
        var isKeyed = false
        /// The times since which data waits in each direction: data that the hub may not receive yet, and data that the
        /// other end does not receive.
        var upBlockedSince: BootInstant?
        var downBlockedSince: BootInstant?
        /// The time since which the line only sends its remaining bytes.
        var endingSince: BootInstant?

        init(_ newcomer: Lobby.Newcomer, _ inner: StreamConnection, at now: BootInstant) {
            connection = newcomer.connection
            outer = newcomer.outer
            self.inner = inner
            up = RelayedBytes(newcomer.words)
            begun = now
        }
    }

    private let requests: StreamListener
    private let stream: StreamListener
    private let readiness: ReadinessSet
    private let times: ConnectionTimes
    private let handlers: Relay.Handlers
    private let clock = SystemClock()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: turnByteCount, alignment: 16)
    private let lineLimit: Int

    private var lines: [UInt64: Line] = [:]
    private(set) var admission = Admission()
    private var lobby: Lobby
    private var isAdmitting = false
    private let budget = DescriptorBudget.shared
    private var lastCount: BootInstant?
    private var lastNumber: UInt64 = 0
    /// Lines that may have more to move, and lines with a deadline.
    private var unfinished: Set<UInt64> = []
    private var watched: Set<UInt64> = []
    /// Listeners at which more connections may wait, and listeners that found no free descriptor for the next one.
    private var unheard: Set<RelayedConnection.Channel> = []
    private var refused: Set<RelayedConnection.Channel> = []

    init(
        requests: StreamListener, stream: StreamListener, readiness: ReadinessSet, times: ConnectionTimes,
        handlers: Relay.Handlers
    ) {
        self.requests = requests
        self.stream = stream
        self.readiness = readiness
        self.times = times
        self.handlers = handlers
        let limit = SpareDescriptors.limit
        let usable = limit - min(Self.spareDescriptorCount, limit / 4)
        lobby = Lobby(limit: max(min(Self.lobbyLimit, usable / 4), 8))
        lineLimit = max((usable - lobby.limit) / Self.descriptorCount, 4)
    }

    deinit {
        buffer.deallocate()
    }

    /// `isUnfinished` is true if more work can be done at once, `hasDeadlines` if there are deadlines to check.
    var isUnfinished: Bool { !unfinished.isEmpty || !unheard.isEmpty || isAdmitting }
    var hasDeadlines: Bool { !refused.isEmpty || !watched.isEmpty || !lobby.isEmpty }

    mutating func serve(_ keys: [UInt64], _ resumed: [UInt64]) {
        let isLooking = keys.contains(Self.timerKey)
        let now = clock.now()
        if lastCount.map({ $0.advanced(by: Self.lookInterval) <= now }) ?? true {
            budget.count()
            lastCount = now
        }
        if keys.contains(Self.requestsKey) { unheard.insert(.requests) }
        if keys.contains(Self.streamKey) { unheard.insert(.stream) }
        if isLooking { (unheard, refused) = (unheard.union(refused), []) }
        for channel in unheard { accept(channel) }
        let ready = unfinished.union(keys).union(resumed)
        unfinished = []
        for number in ready {
            if let line = lines[number] { move(line) }
            if let newcomer = lobby[number] { hear(newcomer) }
        }
        if isLooking {
            admission.beginInterval()
            lookAtTime()
        }
        admitReady()
    }

    mutating func closeAll() {
        for line in Array(lines.values) { close(line) }
        for newcomer in lobby.overdue(at: clock.now(), timeout: .zero) { drop(newcomer) }
    }

    /// Remembers that a key was proved over a connection. Ignored if the connection has ended: the key may be revoked.
    mutating func remember(_ key: String, of number: UInt64) {
        if let line = lines[number] { admission.remember(key, from: line.connection.source) }
    }

    /// Closes all connections, since only these keys are allowed from now on. Addresses from which one of them was
    /// proved keep their precedence: each of their clients reconnects now.
    mutating func closeAll(keeping keys: Set<String>) {
        closeAll()
        admission.forgetKeys(except: keys)
    }

    // MARK: - Coming

    private mutating func accept(_ channel: RelayedConnection.Channel) {
        unheard.remove(channel)
        let listener = channel == .requests ? requests : stream
        for _ in 0..<Self.turnAcceptCount {
            do throws(SystemCallError) {
                guard budget.take(1) else {
                    refused.insert(channel)
                    return
                }
                guard let (outer, address) = try listener.acceptWithAddress() else { return budget.giveBack(1) }
                lastNumber += 1
                let connection = RelayedConnection(
                    number: lastNumber, channel: channel, address: address, outer: outer)
                let newcomer = Lobby.Newcomer(connection, outer, at: clock.now())
                if let former = lobby.take(newcomer, isKnown: admission.isKnown) {
                    former.connection.end()
                    readiness.remove(former.outer.descriptor)
                    budget.giveBack(1)
                }
                try readiness.add(outer, key: lastNumber)
                guard outer.send(Handshake.greeting) else {
                    drop(newcomer)
                    continue
                }
                hear(newcomer)
            } catch {
                // Tried again at the next check.
                refused.insert(channel)
                return
            }
        }
        unheard.insert(channel)
    }

    private mutating func hear(_ newcomer: Lobby.Newcomer) {
        if !lobby.hear(newcomer, through: buffer) { drop(newcomer) }
    }

    private mutating func drop(_ newcomer: Lobby.Newcomer) {
        guard lobby.remove(newcomer.connection.number) != nil else { return }
        newcomer.connection.end()
        readiness.remove(newcomer.outer.descriptor)
        budget.giveBack(1)
    }

    /// Gives places to connections with complete first bytes, as far as there are places.
    private mutating func admitReady() {
        isAdmitting = false
        guard !lobby.isEmpty else { return }
        // Shuffled, so that each of many addresses with the same rank may be next.
        var waiting = lobby.readyAddresses.shuffled().compactMap { address in
            admission.rank(of: address).map { (address: address, rank: $0) }
        }
        var count = 0
        while let index = waiting.indices.min(by: { waiting[$0].rank < waiting[$1].rank }) {
            isAdmitting = count == Self.turnAdmissionCount
            guard !isAdmitting, handlers.lineCount.value < lineLimit, budget.take(Self.descriptorCount - 1) else {
                return
            }
            let address = waiting[index].address
            if let newcomer = lobby.ready(of: address), admit(newcomer) {
                count += 1
                if lobby.ready(of: address) != nil, let rank = admission.rank(of: address) {
                    waiting[index].rank = rank
                    continue
                }
            } else {
                budget.giveBack(Self.descriptorCount - 1)
            }
            waiting.remove(at: index)
        }
    }

    /// Gives a connection its place, if its address may have one.
    private mutating func admit(_ newcomer: Lobby.Newcomer) -> Bool {
        let number = newcomer.connection.number
        let now = clock.now()
        switch admission.admit(number, from: newcomer.connection.source, at: now) {
        case .mustWait: return false
        case .admitted: break
        case .admittedFor(let former): if let line = lines[former] { close(line) }
        }
        lobby.remove(number)
        handlers.lineCount.add(1)
        do {
            let place = try handlers.open(newcomer.connection)
            let line = Line(newcomer, try StreamConnection(to: place), at: now)
            try readiness.add(line.inner, key: number)
            newcomer.connection.sent.add(Handshake.greetingByteCount, ordering: .sequentiallyConsistent)
            lines[number] = line
            unfinished.insert(number)
            watched.insert(number)
        } catch {
            // The other end tries again.
            admission.leave(number)
            newcomer.connection.end()
            readiness.remove(newcomer.outer.descriptor)
            handlers.closed(newcomer.connection)
        }
        return true
    }

    // MARK: - Moving

    private func isMember(_ line: Line) -> Bool { line.connection.isMember.load(ordering: .acquiring) }

    private mutating func move(_ line: Line) {
        let connection = line.connection
        let now = clock.now()
        var (received, sent) = (0, 0)
        let allowance = allowance(of: line, at: now)
        var up = line.up.move(
            from: line.outer, to: line.inner, allowance: allowance, through: buffer, moved: &received)
        connection.received.add(received, ordering: .sequentiallyConsistent)
        let down = line.down.move(
            from: line.inner, to: line.outer, allowance: Self.turnByteCount, through: buffer, moved: &sent)
        if sent > 0 {
            let total = connection.sent.add(sent, ordering: .sequentiallyConsistent).newValue
            if total > Self.handshakeByteCount, !line.isKeyed {
                line.isKeyed = true
                admission.prove(connection.number, from: connection.source)
            }
            if connection.isHeldBack.exchange(false, ordering: .sequentiallyConsistent) { handlers.drained(connection) }
        }
        if [up, down].contains(.closed) || down == .ended { return close(line) }
        if up == .ended {
            // The remaining bytes are passed on first. Bytes that the hub has not received by the deadline are dropped:
            // clients repeat their requests.
            line.endingSince = line.endingSince ?? now
            if line.up.isEmpty { return close(line) }
        }
        if up == .stopped, allowance < Self.turnByteCount {
            guard stall(line) else { return }
            up = .blocked
        }
        line.upBlockedSince = up == .blocked ? (received > 0 ? now : line.upBlockedSince ?? now) : nil
        line.downBlockedSince = down == .blocked ? (sent > 0 ? now : line.downBlockedSince ?? now) : nil
        if [line.upBlockedSince, line.downBlockedSince, line.endingSince].contains(where: { $0 != nil }) {
            watched.insert(connection.number)
        }
        if up == .stopped || down == .stopped { unfinished.insert(connection.number) }
    }

    /// Returns how many bytes of a connection the hub may receive now.
    private func allowance(of line: Line, at now: BootInstant) -> Int {
        let limit: Int
        if isMember(line) {
            limit = ClientMemory.requestByteCount - line.connection.unsettled
        } else {
            let total =
                line.connection.channel == .stream
                ? Self.streamByteCount(after: line.begun.duration(to: now)) : Self.strangerByteLimit
            limit = total - line.connection.received.load(ordering: .relaxed)
        }
        return min(max(limit, 0), Self.turnByteCount)
    }

    /// Returns how many bytes a connection of the stream may have sent after a time.
    static func streamByteCount(after time: Duration) -> Int {
        min(streamFirstByteCount + streamByteRate * Int(time.components.seconds), streamByteLimit)
    }

    /// Pauses a connection until the hub has completed more; closes one that has sent more than its kind may.
    ///
    /// - Returns: Whether it is paused.
    private mutating func stall(_ line: Line) -> Bool {
        guard isMember(line) else {
            close(line)
            return false
        }
        line.connection.isStalled.store(true, ordering: .sequentiallyConsistent)
        // Check again, because the hub may have completed requests just before the flag was set.
        if line.connection.unsettled < ClientMemory.requestByteCount { unfinished.insert(line.connection.number) }
        return true
    }

    // MARK: - Going

    private mutating func close(_ line: Line) {
        let number = line.connection.number
        guard lines.removeValue(forKey: number) != nil else { return }
        unfinished.remove(number)
        watched.remove(number)
        readiness.remove(line.outer.descriptor)
        readiness.remove(line.inner.descriptor)
        line.connection.end()
        handlers.closed(line.connection)
        admission.leave(number)
    }

    private mutating func lookAtTime() {
        let now = clock.now()
        for newcomer in lobby.overdue(at: now, timeout: times.key) { drop(newcomer) }
        for number in watched {
            guard let line = lines[number], let deadline = deadline(of: line) else {
                watched.remove(number)
                continue
            }
            if deadline <= now { close(line) }
        }
    }

    /// Returns when a connection without progress is closed; nil for one that may be idle.
    private func deadline(of line: Line) -> BootInstant? {
        if let since = line.endingSince { return since.advanced(by: times.key) }
        if !line.isKeyed { return line.begun.advanced(by: times.key) }
        let blocked = [line.upBlockedSince, line.downBlockedSince].compactMap(\.self).min()
        if let blocked { return blocked.advanced(by: times.blocked) }
        let mustSayHello = line.connection.channel == .requests && !isMember(line)
        return mustSayHello ? line.begun.advanced(by: times.hello) : nil
    }
}
