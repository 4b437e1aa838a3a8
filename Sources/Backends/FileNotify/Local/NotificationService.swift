internal import CoreAPI
internal import Platform
internal import Synchronization

/// The thread of a process that waits for its groups: for signals of their wake channels, for the ends of processes,
/// and for the time at which each group is polled without a signal. If tasks prefer to run on it there are two, so that
/// one is always free to wait; see ``UpdateExecutor``.
///
/// The system allows a user a limited number of inotify instances and watches. While none is left for a wake channel,
/// its group sleeps at a futex word of its page instead; see ``SignalListener``. A read-only group is polled: one load
/// from a shared page each time.
final class NotificationService: Sendable {
    /// The interval at which a group is polled without a signal: a signal is a hint and may be lost.
    static let idleInterval = Duration.seconds(10)
    /// The interval at which a group that no process can wake is polled.
    static let lookInterval = Duration.milliseconds(100)
    /// The interval of the timer while every group is quiet: practically never.
    private static let longestInterval = Duration.seconds(365 * 86_400)

    /// The interval of the timer.
    fileprivate enum Pace: Hashable {
        case none, idle, looks
    }

    struct Weak {
        weak var group: LocalGroup?
        /// Stored beside the reference, so that it can be read under the lock without the group. The last reference to
        /// a group must not be released under the lock, because its deinitializer takes it.
        let sleepsAtSharedMemory: Bool

        init(_ group: LocalGroup) {
            self.group = group
            sleepsAtSharedMemory = group.wakeUpSource == .signals
        }
    }

    /// A session that ends with an awaited process.
    struct Holder {
        let session: Session
        let process: ProcessHandle
        let key: UInt64
        /// True if the system reports the end of the process.
        let isAwaited: Bool
    }

    /// The keys of descriptors in the readiness set. The keys of processes come after these.
    enum Key {
        static let counter: UInt64 = 0
        static let events: UInt64 = 1
        static let timer: UInt64 = 2
        static let last: UInt64 = 2
    }

    struct State {
        var groups: [ObjectIdentifier: Weak] = [:]
        /// The wake channels that each group listens to, with the numbers of their watches; nil for a channel that
        /// cannot be watched.
        var wakeChannels: [ObjectIdentifier: [Int: Int32?]] = [:]
        /// The numbers of the watches of the directories of groups that listen to wake channels.
        var places: [ObjectIdentifier: Int32] = [:]
        /// The listening groups that no process can wake.
        var lookers: Set<ObjectIdentifier> = []
        /// The groups that have listeners, none of which needs a timer.
        var quiet: Set<ObjectIdentifier> = []
        fileprivate var pace = Pace.idle
        /// The groups that listen to a watched file.
        var listeners: [Int32: Set<ObjectIdentifier>] = [:]
        var holders: [ObjectIdentifier: [SessionID: Holder]] = [:]
        var lastKey = Key.last
        var nextLook: BootInstant
        /// True while a second thread waits as well.
        var hasCompanion = false
        /// Ended sessions that were reported to their group, until the next idle poll.
        var reported: [ObjectIdentifier: Set<SessionID>] = [:]
        /// The source of file events; nil while the system provides none.
        var events: FileEvents?

        /// The groups that listen to a channel that cannot be watched.
        var deaf: Set<ObjectIdentifier> {
            Set(wakeChannels.filter { $0.value.values.contains(nil) }.map(\.key))
        }

        /// True if the timer is not needed: the listeners of every group read at intervals of their own, and all else
        /// comes as an event.
        fileprivate var isQuiet: Bool {
            !quiet.isEmpty && quiet.isSuperset(of: groups.keys) && events != nil && deaf.isEmpty
                && holders.values.allSatisfy { $0.values.allSatisfy(\.isAwaited) }
                // A group with futex signals needs polls: a poster that is killed before its signal wakes no process.
                && !groups.values.contains { $0.sleepsAtSharedMemory }
                // The end of a session that could not be recorded is tried again at an idle poll.
                && reported.isEmpty
        }
    }

    let counter: EventCounter
    let timer: IntervalTimer
    let readiness: ReadinessSet
    let executor: UpdateExecutor
    let state: Mutex<State>

    private static let instance = Mutex<NotificationService?>(nil)

    /// The service of this process; nil until it is first needed.
    static var current: NotificationService? { instance.withLock { $0 } }

    /// Returns the service of this process.
    static func shared() throws(SystemCallError) -> NotificationService {
        try instance.withLock { instance throws(SystemCallError) in
            if let instance { return instance }
            let service = try NotificationService(events: try? FileEvents())
            try OwnedThread.start("sc-notify") { service.run() }
            instance = service
            return service
        }
    }

    private init(events: FileEvents?) throws(SystemCallError) {
        counter = try EventCounter()
        timer = try IntervalTimer()
        readiness = try ReadinessSet()
        executor = UpdateExecutor(waking: counter)
        state = Mutex(State(nextLook: SystemClock().now().advanced(by: Self.idleInterval), events: events))
        try readiness.addEdges(of: counter.descriptor, key: Key.counter)
        try readiness.addEdges(of: timer.descriptor, key: Key.timer)
        if let events { try readiness.addEdges(of: events.descriptor, key: Key.events) }
        timer.set(first: Self.idleInterval, interval: Self.idleInterval)
    }

    /// Returns the executor for tasks that want to be resumed by the thread that receives updates; nil when the system
    /// has no thread left.
    func preferredExecutor() -> UpdateExecutor? {
        // Start the second thread under the lock: no task may get the executor before a thread waits for updates while
        // another runs the task.
        state.withLock { state in
            if state.hasCompanion { return executor }
            do throws(SystemCallError) {
                try OwnedThread.start("sc-notify") { self.run() }
                state.hasCompanion = true
                return executor
            } catch {
                return nil
            }
        }
    }

    // MARK: - Watching

    /// Adds a group to the idle polls, so that it does not keep old files open for ever.
    func register(_ group: LocalGroup) {
        state.withLock { state in
            state.groups[ObjectIdentifier(group)] = Weak(group)
            setTimer(&state)
        }
    }

    /// Starts waiting for wake channels of a group.
    ///
    /// - Returns: The channels that cannot be watched, to which the group must listen in another way.
    func watch(_ wakeChannels: WakeChannels, of group: LocalGroup) -> WakeChannels {
        let id = ObjectIdentifier(group)
        return state.withLock { state in
            state.groups[id] = Weak(group)
            defer { setTimer(&state) }
            switch group.wakeUpSource {
            case .wakeChannels:
                var unwatched = WakeChannels()
                for index in wakeChannels.indices {
                    let watch = self.begin(index, of: group, &state)
                    state.wakeChannels[id, default: [:]][index] = .some(watch)
                    if watch == nil { unwatched.formUnion(WakeChannels(index: index)) }
                }
                return unwatched
            case .signals:
                return wakeChannels
            case .looks:
                state.lookers.insert(id)
                return WakeChannels()
            }
        }
    }

    /// Records whether a group has listeners, none of which needs a timer.
    func setQuiet(_ isQuiet: Bool, _ group: LocalGroup) {
        let id = ObjectIdentifier(group)
        state.withLock { state in
            if isQuiet { state.quiet.insert(id) } else { state.quiet.remove(id) }
            setTimer(&state)
        }
    }

    /// Sets the timer for the idle polls, for more frequent polls while a group listens that no process can wake, and
    /// for none if every group is quiet. Only a change sets it: a short-lived group must not delay the polls of the
    /// others.
    func setTimer(_ state: inout State) {
        let pace = !state.lookers.isEmpty ? Pace.looks : state.isQuiet ? .none : .idle
        guard state.pace != pace else { return }
        state.pace = pace
        let untilNextLook = max(SystemClock().now().duration(to: state.nextLook), .zero)
        switch pace {
        case .none: timer.set(first: Self.longestInterval, interval: Self.longestInterval)
        case .idle: timer.set(first: untilNextLook, interval: Self.idleInterval)
        case .looks: timer.set(first: min(untilNextLook, Self.lookInterval), interval: Self.lookInterval)
        }
    }

    private func removeLooker(_ id: ObjectIdentifier, _ state: inout State) {
        state.lookers.remove(id)
        setTimer(&state)
    }

    /// Returns whether a wake channel of the group could not be watched, or none can be.
    func isDeaf(to group: LocalGroup) -> Bool {
        state.withLock { state in
            state.events == nil || state.wakeChannels[ObjectIdentifier(group)]?.values.contains(nil) == true
        }
    }

    /// Watches a wake channel; returns nil if the system refuses.
    func begin(_ index: Int, of group: LocalGroup, _ state: inout State) -> Int32? {
        guard let events = state.events, let file = try? Self.wakeChannel(index, in: group.directory.directory),
            let watch = try? events.watchWrites(to: file)
        else { return nil }
        let id = ObjectIdentifier(group)
        state.listeners[watch, default: []].insert(id)
        // Without this additional watch a replaced file is noticed at the next idle poll.
        if state.places[id] == nil, let place = try? events.watchDepartures(in: group.directory.directory) {
            state.places[id] = place
            state.listeners[place, default: []].insert(id)
        }
        return watch
    }

    /// Opens a wake channel to watch it. An existing one is opened read-only, because closing a writable one would
    /// signal it. A new one gets its byte now, so that a signal needs no space when the disk is full.
    private static func wakeChannel(_ index: Int, in directory: Directory) throws(SystemCallError) -> OpenFile {
        do throws(SystemCallError) {
            let file = try OpenFile(WakeSignaler.fileName(index), in: directory, .read)
            if try file.presence().byteCount > 0 { return file }
        } catch {
            guard error.isAbsent else { throw error }
        }
        let file = try OpenFile(WakeSignaler.fileName(index), in: directory, .create)
        try file.write([0], at: 0)
        return file
    }

    /// Stops waiting for wake channels of a group.
    func unwatch(_ wakeChannels: WakeChannels, of group: LocalGroup) {
        let id = ObjectIdentifier(group)
        state.withLock { state in
            for index in wakeChannels.indices {
                if let watch = state.wakeChannels[id]?.removeValue(forKey: index) ?? nil {
                    self.end(watch, of: id, &state)
                }
            }
        }
    }

    /// Stops polling a group that no process can wake.
    func stopLooking(at group: LocalGroup) {
        state.withLock { removeLooker(ObjectIdentifier(group), &$0) }
    }

    /// Waits for the ends of these sessions' processes, and stops waiting for others of this group.
    ///
    /// - Returns: The sessions of processes that have ended already.
    func watch(_ sessions: [Session], of group: LocalGroup) -> [SessionID] {
        let id = ObjectIdentifier(group)
        var ended: [SessionID] = []
        state.withLock { state in
            let known = state.holders[id] ?? [:]
            guard !sessions.isEmpty || !known.isEmpty else { return }
            var holders: [SessionID: Holder] = [:]
            for session in sessions where state.reported[id]?.contains(session.id) != true {
                if let holder = known[session.id], holder.isAwaited {
                    holders[session.id] = holder
                } else if let process = group.processHandle(of: session, ended: &ended) {
                    state.lastKey += 1
                    // If the process has ended meanwhile, its descriptor is ready at once. A process that cannot be
                    // watched is polled.
                    let isAwaited = (try? readiness.addEdges(of: process.descriptor, key: state.lastKey)) != nil
                    holders[session.id] = Holder(
                        session: session, process: process, key: state.lastKey, isAwaited: isAwaited)
                }
            }
            state.groups[id] = Weak(group)
            state.holders[id] = holders
            if !ended.isEmpty { state.reported[id, default: []].formUnion(ended) }
            setTimer(&state)
        }
        return ended
    }

    /// Forgets a released group.
    func forget(_ id: ObjectIdentifier) {
        state.withLock { state in
            for case let watch? in state.wakeChannels[id]?.values.map({ $0 }) ?? [] { self.end(watch, of: id, &state) }
            if let place = state.places.removeValue(forKey: id) { self.end(place, of: id, &state) }
            state.wakeChannels[id] = nil
            state.holders[id] = nil
            state.reported[id] = nil
            state.groups[id] = nil
            state.quiet.remove(id)
            removeLooker(id, &state)
        }
    }

    private func end(_ watch: Int32, of id: ObjectIdentifier, _ state: inout State) {
        state.listeners[watch]?.remove(id)
        if state.listeners[watch]?.isEmpty == true {
            state.listeners[watch] = nil
            state.events?.remove(watch)
        }
    }
}
