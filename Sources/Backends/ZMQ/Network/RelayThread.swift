internal import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization

/// What the relay's thread knows, and does each time it wakes.
struct RelayThread: ~Copyable {
    static let requestsKey = UInt64.max
    static let streamKey = UInt64.max - 1
    static let wakeUpKey = UInt64.max - 2
    static let timerKey = UInt64.max - 3

    /// What a connection may send to the hub whose key is not proved, or that has not said hello.
    static let strangerByteLimit = 16 << 10
    /// What a connection of the stream may send for each second: its subscriptions are short, and the library's heartbeats take
    /// 20 bytes a second.
    static let streamByteRate = 32
    /// How many bytes of a member's the hub may not be done with: one request of the largest size, and what begins the next.
    static let unsettledByteLimit = Wire.requestByteLimit + (1 << 20)
    /// The library's part of a handshake, as far as it is the same for a key that is let in and one that is refused: greeting,
    /// WELCOME and the longer ERROR (RFC 23 and 26 of ZeroMQ). Whatever sends more has let the key in.
    static let handshakeByteCount = 64 + 170 + 12
    /// How long a connection may take to prove its key, to say hello, and to take or give anything while much waits.
    static let keyPatience = Duration.milliseconds(2_500)
    static let helloPatience = Duration.seconds(5)
    static let blockedPatience = Duration.seconds(30)
    /// How many wait for a place, and for how long.
    static let waitingLimit = 1_024
    static let waitingPatience = Duration.seconds(5)
    /// What one connection moves before the others have their turn.
    private static let turnByteCount = 64 << 10
    /// How soon deadlines are looked at.
    static let lookInterval = Duration.milliseconds(250)
    /// The descriptors that one connection takes in the process: its own, both ends of the local one, the socket at which the library
    /// waits for it, and the library's signal.
    private static let descriptorCount = 5
    /// Those that are left for everything else.
    private static let spareDescriptorCount = 512

    /// Both ends of a connection, and what is on its way.
    private final class Line {
        let connection: RelayedConnection
        let outer: StreamConnection
        let inner: StreamConnection
        let begun: BootInstant
        var up = RelayedBytes()
        var down = RelayedBytes()
        var isKeyed = false
        /// Since when something waits that the receiving end does not take, or the limit does not allow.
        var blockedSince: BootInstant?
        /// Since when it is only there to send what is left.
        var endingSince: BootInstant?

        init(_ connection: RelayedConnection, _ outer: StreamConnection, _ inner: StreamConnection, at now: BootInstant)
        {
            self.connection = connection
            self.outer = outer
            self.inner = inner
            begun = now
        }
    }

    /// A connection that waits for a place.
    private struct Newcomer {
        let connection: RelayedConnection
        let outer: StreamConnection
        let since: BootInstant
    }

    private let requests: StreamListener
    private let stream: StreamListener
    private let readiness: ReadinessSet
    private let handlers: Relay.Handlers
    private let clock = SystemClock()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: turnByteCount, alignment: 16)
    private let lineLimit: Int

    private var lines: [UInt64: Line] = [:]
    private var slots = StrangerSlots()
    private var newcomers: [Newcomer] = []
    private var lastNumber: UInt64 = 0
    /// Lines that may have more to move, and those that have a deadline.
    private var unfinished: Set<UInt64> = []
    private var watched: Set<UInt64> = []
    /// Whether a connection waits that the system had no descriptor for.
    private var mustAccept = false

    init(
        requests: StreamListener, stream: StreamListener, readiness: ReadinessSet, handlers: Relay.Handlers
    ) {
        self.requests = requests
        self.stream = stream
        self.readiness = readiness
        self.handlers = handlers
        lineLimit = max((OpenFile.limit - Self.spareDescriptorCount) / Self.descriptorCount, 8)
    }

    deinit {
        buffer.deallocate()
    }

    /// Whether there is more to do at once, and whether there are deadlines to look at.
    var isUnfinished: Bool { !unfinished.isEmpty }
    var hasDeadlines: Bool { mustAccept || !watched.isEmpty || !newcomers.isEmpty }

    mutating func serve(_ keys: [UInt64], _ resumed: [UInt64]) {
        let isLooking = keys.contains(Self.timerKey)
        if keys.contains(Self.requestsKey) || (isLooking && mustAccept) { accept(requests, .requests) }
        if keys.contains(Self.streamKey) || (isLooking && mustAccept) { accept(stream, .stream) }
        let ready = unfinished.union(keys).union(resumed)
        unfinished = []
        for number in ready { if let line = lines[number] { move(line) } }
        if isLooking { lookAtTime() }
        while let newest = newcomers.last, admit(newest) { newcomers.removeLast() }
    }

    mutating func closeAll() {
        for line in Array(lines.values) { close(line) }
        newcomers = []
    }

    // MARK: - Coming

    private mutating func accept(_ listener: StreamListener, _ channel: RelayedConnection.Channel) {
        mustAccept = false
        while true {
            do throws(SystemCallError) {
                guard let (outer, address) = try listener.acceptWithAddress() else { return }
                lastNumber += 1
                let connection = RelayedConnection(number: lastNumber, channel: channel, address: address)
                let newcomer = Newcomer(connection: connection, outer: outer, since: clock.now())
                if !admit(newcomer) {
                    newcomers.append(newcomer)
                    if newcomers.count > Self.waitingLimit { newcomers.removeFirst() }
                }
            } catch {
                // Tried again at the next look.
                mustAccept = true
                return
            }
        }
    }

    /// Gives a connection its place, when there is one.
    private mutating func admit(_ newcomer: Newcomer) -> Bool {
        let number = newcomer.connection.number
        let now = clock.now()
        guard lines.count < lineLimit else { return false }
        switch slots.admit(number, from: newcomer.connection.address, at: now) {
        case .mustWait: return false
        case .admitted: break
        case .admittedFor(let former): if let line = lines[former] { close(line) }
        }
        do {
            let place = try handlers.open(newcomer.connection)
            let line = Line(newcomer.connection, newcomer.outer, try StreamConnection(to: place), at: now)
            lines[number] = line
            try readiness.add(line.outer, key: number)
            try readiness.add(line.inner, key: number)
            unfinished.insert(number)
            watched.insert(number)
        } catch {
            // The other end tries again.
            slots.leave(number)
            lines[number] = nil
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
                slots.leave(connection.number)
            }
            if connection.isHeldBack.exchange(false, ordering: .sequentiallyConsistent) { handlers.drained(connection) }
        }
        if [up, down].contains(.closed) || down == .ended { return close(line) }
        if up == .ended {
            // What is left goes to the hub first.
            line.endingSince = line.endingSince ?? now
            if line.up.isEmpty { return close(line) }
        }
        if up == .stopped, allowance < Self.turnByteCount {
            guard stall(line) else { return }
            up = .blocked
        }
        if received > 0 || sent > 0 { line.blockedSince = nil }
        line.blockedSince = up == .blocked || down == .blocked ? line.blockedSince ?? now : nil
        if line.blockedSince != nil || line.endingSince != nil { watched.insert(connection.number) }
        if up == .stopped || down == .stopped { unfinished.insert(connection.number) }
    }

    /// How many bytes the hub may get of a connection now.
    private func allowance(of line: Line, at now: BootInstant) -> Int {
        let limit: Int
        if isMember(line) {
            limit = Self.unsettledByteLimit - line.connection.unsettled
        } else {
            var total = Self.strangerByteLimit
            if line.connection.channel == .stream {
                total += Self.streamByteRate * Int(line.begun.duration(to: now).components.seconds)
            }
            limit = total - line.connection.received.load(ordering: .relaxed)
        }
        return min(max(limit, 0), Self.turnByteCount)
    }

    /// Waits until the hub is done with more; ends what has sent more than a connection like it may.
    ///
    /// - Returns: Whether it waits.
    private mutating func stall(_ line: Line) -> Bool {
        guard isMember(line) else {
            close(line)
            return false
        }
        line.connection.isStalled.store(true, ordering: .sequentiallyConsistent)
        // The hub may have been done with it just before.
        if line.connection.unsettled < Self.unsettledByteLimit { unfinished.insert(line.connection.number) }
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
        handlers.closed(line.connection)
        slots.leave(number)
    }

    private mutating func lookAtTime() {
        let now = clock.now()
        newcomers.removeAll { $0.since.advanced(by: Self.waitingPatience) <= now }
        for number in watched {
            guard let line = lines[number], let deadline = deadline(of: line) else {
                watched.remove(number)
                continue
            }
            if deadline <= now { close(line) }
        }
    }

    /// When a connection is closed that does not go on; nil for one that may rest.
    private func deadline(of line: Line) -> BootInstant? {
        if let since = line.endingSince { return since.advanced(by: Self.keyPatience) }
        if !line.isKeyed { return line.begun.advanced(by: Self.keyPatience) }
        if let since = line.blockedSince { return since.advanced(by: Self.blockedPatience) }
        let mustSayHello = line.connection.channel == .requests && !isMember(line)
        return mustSayHello ? line.begun.advanced(by: Self.helloPatience) : nil
    }
}
