internal import Coordination
internal import CoreAPI
internal import Logging
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// Makes each new message of a Maildir a push. The messages stay where they are: a core takes them.
///
/// A message that a core has taken while no host watched stays in the inbox until it is acknowledged. If the Maildir is
/// that of the group's cores, a message of the inbox that was not announced becomes a push as well.
struct PushMaildir: Sendable {
    let path: String
    let queue: PushQueue
    /// The messages that the cores have taken.
    let inbox: Inbox
    /// The Maildir that the cores take from; nil where they are programs.
    let coreMaildir: String?
    let logger: Logger
    let stopping: StopSignal
    /// How much memory an Executor may have now; nil for no limit.
    let memory: @Sendable () async -> UInt64?

    private let thread = SerialThread(name: "push-maildir")

    /// The pauses between two reads: without an event (`idle`), without a watch (`unwatched`), after an incomplete read
    /// (`unfinished`) and after an error (`trouble`).
    private static let idle = Duration.seconds(10)
    private static let unwatched = Duration.milliseconds(500)
    private static let unfinished = Duration.milliseconds(500)
    private static let trouble = Duration.seconds(5)

    init(
        _ path: String, _ queue: PushQueue, inbox: Inbox, of coreMaildir: String?, logger: Logger, stopping: StopSignal,
        memory: @escaping @Sendable () async -> UInt64? = { nil }
    ) {
        self.path = path
        self.queue = queue
        self.inbox = inbox
        self.coreMaildir = coreMaildir
        self.logger = logger
        self.stopping = stopping
        self.memory = memory
    }

    /// How many files and messages are announced at a time. All notes are in the memory of each Executor, with what a
    /// core takes of it. A core considers as many files.
    private static let noteLimit = 1_000
    private static let memoryOfNote = 24 << 10
    /// How many files of one read that are no push are named in the log.
    private static let namedCount = 10
    /// A read of a large folder takes long, and must not take most of the time.
    private static let lookShare = 4

    /// How many call-ids are forgotten at once.
    private static let forgottenAtOnce = 250

    /// Returns how many more messages may be announced now, and if the group has so much content that they must be few.
    /// In that case, forgets the oldest acknowledged call-ids, except those with a file in the Maildir.
    private func room(beside known: [String: String]) async throws(SharedCoreError) -> (count: Int, isSlow: Bool) {
        let memory = await memory()
        let limit = memory.map { min(Self.noteLimit, Int(clamping: $0) / Self.memoryOfNote) } ?? Self.noteLimit
        let count = max(0, limit - known.count)
        func isFull() async throws(SharedCoreError) -> Bool {
            try await MailRoom.isFull(queue.group, memory: memory, part: MailRoom.announcedPart)
        }
        guard try await isFull() else { return (count, false) }
        // The files of another Maildir are not known here.
        guard try await isCoreMaildir() else { return (min(count, 1), true) }
        let announced = Set(known.values)
        _ = try await inbox.forgetOldest(
            Self.forgottenAtOnce, keeping: { announced.contains(PushQueue.part(for: $0)) })
        return try await isFull() ? (min(count, 1), true) : (count, false)
    }

    /// Works until the host stops. A failed step is logged once and repeated until it works.
    func run() async {
        var told: String?
        var arrivals: MailArrivals?
        while !stopping.isRaised {
            do {
                // Kept through all errors: it knows the messages that were there before.
                if arrivals == nil { arrivals = try await open() }
                if let arrivals { try await watch(arrivals) { told = nil } }
            } catch {
                // The work under way when the host stops ends as cancelled.
                if stopping.isRaised { return }
                let problem = (error as? SharedCoreError)?.sentence ?? "\(error)"
                if told != problem { logger.error("the Maildir \(path) cannot be watched for pushes: \(problem)") }
                told = problem
            }
            await stopping.pause(Self.trouble)
        }
    }

    private func open() async throws(SharedCoreError) -> MailArrivals {
        try await thread.run { [path] () throws(SharedCoreError) in try MailArrivals(path: path) }
    }

    /// Returns true if the cores take from this Maildir, under this path or another. It may be moved meanwhile. Throws
    /// if a path cannot be followed: if this Maildir passed for another, its messages would be forgotten and announced
    /// again.
    private func isCoreMaildir() async throws(SharedCoreError) -> Bool {
        guard let coreMaildir else { return false }
        if path == coreMaildir { return true }
        return try await thread.run { [path] () throws(SharedCoreError) in
            do throws(SystemCallError) {
                return try FileStatus(behindPath: path).identity == FileStatus(behindPath: coreMaildir).identity
            } catch {
                if error.isAbsent { return false }
                throw SharedCoreError(error)
            }
        }
    }

    /// The messages of the inbox that wait to be acknowledged; nil where the cores take from another Maildir.
    private func unacknowledged() async throws(SharedCoreError) -> [Inbox.Unacknowledged]? {
        try await isCoreMaildir() ? try await inbox.unacknowledged() : nil
    }

    /// Returns true if an announced message waits to be acknowledged: its file is in the Maildir, or the inbox has it.
    /// False if the cores take from another Maildir.
    func isWaiting(_ callID: CallID) async throws(SharedCoreError) -> Bool {
        guard try await isCoreMaildir() else { return false }
        do throws(SharedCoreError) {
            switch try await inbox.state(of: callID) {
            case .stored, .taken: return true
            case .acknowledged, .nothingToShow: return false
            // The note of a file that is gone stays until the next read, which is within ten seconds.
            case .absent: return try await queue.knownArrivals().values.contains(PushQueue.part(for: callID))
            }
        } catch {
            // No Executor can show a record that is damaged or of another version.
            guard error.code == .corrupt || error.code == .incompatible else { throw error }
            return false
        }
    }

    private func watch(_ arrivals: MailArrivals, works: () -> Void) async throws {
        let ending = Task { [stopping] in
            await stopping.wait()
            if stopping.isRaised { arrivals.stop() }
        }
        defer { ending.cancel() }
        var known = try await queue.knownArrivals()
        var wasFull = false
        var wasUnwatched = false
        var wasFullFolder = false
        // At the start and where nothing has arrived for a while: arrivals tell of the rest.
        var mustReadInbox = true
        while !stopping.isRaised {
            // Before the folders: a message that is stored and moved behind this is an arrival there.
            let waiting = mustReadInbox ? try await unacknowledged() : nil
            let (room, isSlow) = try await room(beside: known)
            let lookBegin = ContinuousClock.now
            let look = try await thread.run { [known] () throws(SystemCallError) in
                try arrivals.look(room: room) { known[PushQueue.part(for: $0)] != nil }
            }
            let lookDuration = ContinuousClock.now - lookBegin
            if room == 0, look.isPartial, !wasFullFolder {
                wasFullFolder = true
                logger.notice(
                    "\(known.count) files of the Maildir \(path) are announced: more are when those have left it")
            }
            var silent: [MailArrivals.Arrival] = []
            var rest = look.arrivals[...]
            var refusal: SharedCoreError?
            do throws(SharedCoreError) {
                while let arrival = rest.first {
                    if try await !push(arrival, known: &known) { silent.append(arrival) }
                    rest.removeFirst()
                }
                if let waiting { try await pushUnannounced(waiting, known: &known) }
            } catch {
                guard error.code == .limitExceeded else { throw error }
                // The Maildir is as it should be, and its messages are safe in it.
                refusal = error
            }
            tell(ofSilent: silent)
            arrivals.confirm(look, except: rest, silent: silent)
            try await forget(&known, except: look.standing, waiting)
            works()
            if let refusal {
                if !wasFull { logger.warning("messages of the Maildir \(path) wait there: \(refusal.sentence)") }
                wasFull = true
                await stopping.pause(Self.trouble)
                continue
            }
            wasFull = false
            let reason = arrivals.unwatchedReason
            if let reason, !wasUnwatched {
                logger.notice(
                    "the Maildir \(path) cannot be watched (\(reason)); until it can be, it is read every \(Self.unwatched)"
                )
            }
            wasUnwatched = wasUnwatched || reason != nil
            if isSlow { await stopping.pause(MailRoom.pace) }
            if look.isPartial, !look.arrivals.isEmpty { continue }
            // Also where each arrival rings.
            if lookDuration > .milliseconds(20) { await stopping.pause(lookDuration * Self.lookShare) }
            let pause =
                if look.isUnfinished || look.isPartial {
                    Self.unfinished
                } else if reason != nil {
                    Self.unwatched
                } else {
                    Self.idle
                }
            let begin = ContinuousClock.now
            await thread.run { arrivals.wait(timeout: pause) }
            mustReadInbox = ContinuousClock.now - begin >= pause
        }
    }

    /// - Returns: Whether it is a push; nothing is noted of one that is none.
    private func push(
        _ arrival: MailArrivals.Arrival, known: inout [String: String]
    ) async throws(SharedCoreError) -> Bool {
        guard let callID = arrival.callID.flatMap({ PushID.callID($0.text) }) else { return false }
        let part = PushQueue.part(for: arrival.name)
        let note = PushQueue.part(for: callID)
        _ = try await queue.announce(callID, as: part, noting: note)
        known[part] = note
        return true
    }

    private func tell(ofSilent silent: [MailArrivals.Arrival]) {
        for arrival in silent.prefix(Self.namedCount) {
            let problem = arrival.problem ?? "has a call-id that is not \(PushID.expectation)"
            logger.warning("the file “\(ValueText.oneLine(arrival.name))” of \(path) is no push: it \(problem)")
        }
        if silent.count > Self.namedCount {
            logger.warning("\(silent.count - Self.namedCount) more files of \(path) are no push")
        }
    }

    /// Makes the messages of the inbox pushes that were not announced and that no participant has in hand.
    private func pushUnannounced(
        _ inbox: [Inbox.Unacknowledged], known: inout [String: String]
    ) async throws(SharedCoreError) {
        let announced = Set(known.values)
        for message in inbox where !message.isTaken && PushID.callID(message.callID.text) != nil {
            let part = PushQueue.part(for: message.callID)
            // By its file, or as the same record of the inbox: one that was given back and stored anew is another one.
            guard !announced.contains(part), known[part] != message.revision.description else { continue }
            _ = try await queue.announce(
                message.callID, as: part, noting: message.revision.description, replacing: known[part] != nil)
            known[part] = message.revision.description
        }
    }

    /// Forgets the messages that are gone from the folder and, if the inbox was read, from the inbox. A message in the
    /// inbox is from then on known by its record there, so that its file is a push again when it is given back.
    private func forget(
        _ known: inout [String: String], except names: Set<String>, _ inbox: [Inbox.Unacknowledged]?
    ) async throws(SharedCoreError) {
        let standing = Set(names.map(PushQueue.part))
        // The note of a message is a revision.
        let hasFileGone = known.contains { part, note in !standing.contains(part) && UInt64(note) == nil }
        guard inbox != nil || hasFileGone else { return }
        // The inbox is read after the folders, so a message is there if its file has left `new`.
        let present = hasFileGone ? try await unacknowledged() : inbox
        let waiting = Dictionary(
            (present ?? []).map { (PushQueue.part(for: $0.callID), $0.revision.description) },
            uniquingKeysWith: { first, _ in first })
        let gone = known.filter { part, _ in !standing.contains(part) && waiting[part] == nil }
        // A transaction has a size.
        for start in stride(from: 0, to: gone.count, by: 250) {
            let some = gone.dropFirst(start).prefix(250)
            let kept = waiting.filter { message, _ in some.contains { $0.value == message } }
            try await queue.forgetArrivals(some.map(\.key), noting: kept)
            for part in some.map(\.key) { known[part] = nil }
            known.merge(kept) { _, new in new }
        }
    }
}
