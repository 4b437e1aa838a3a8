internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Logging
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// Creates a push for each new message of a Maildir. The messages stay there until a core takes them.
///
/// A message that a core took while no host watched stays in the inbox until it is acknowledged. If the Maildir is that
/// of the group's cores, a push is also created for each such message.
struct PushMaildir: Sendable {
    let path: String
    let queue: PushQueue
    /// The messages that the cores have taken.
    let inbox: Inbox
    /// The Maildir of the cores; nil if they are programs.
    let coreMaildir: String?
    let logger: Logger
    let stopping: StopSignal
    /// Returns how much memory an Executor may have now; nil for no limit.
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

    /// The maximum number of announced files and messages. The limit protects Executors, each of which has all notes
    /// about them in its memory, in addition to its core. A core also reads at most this many files at a time.
    private static let noteLimit = 1_000
    private static let memoryOfNote = 24 << 10
    /// How many of the files that cannot become pushes are named in the log after one read.
    private static let namedCount = 10
    /// Reading a large folder takes long. After a read, this loop pauses for this many times as long.
    private static let lookShare = 4

    /// How many call-ids are forgotten at once.
    private static let forgottenAtOnce = 250

    /// Returns how many more messages may be announced now, and true if the number is reduced because the group is
    /// nearly full. In that case, removes the oldest acknowledged call-ids, except those with a file in the Maildir.
    private func room(beside known: [String: String]) async throws(SharedCoreError) -> (count: Int, isSlow: Bool) {
        let memory = await memory()
        let limit = memory.map { min(Self.noteLimit, Int(clamping: $0) / Self.memoryOfNote) } ?? Self.noteLimit
        let count = max(0, limit - known.count)
        func isFull() async throws(SharedCoreError) -> Bool {
            try await MailRoom.isFull(queue.group, memory: memory, part: MailRoom.announcedPart)
        }
        guard try await isFull() else { return (count, false) }
        // If the cores use another Maildir, this process does not know which call-ids have files there, so remove none.
        guard try await isCoreMaildir() else { return (min(count, 1), true) }
        let announced = Set(known.values)
        _ = try await inbox.forgetOldest(
            Self.forgottenAtOnce, keeping: { announced.contains(PushQueue.part(for: $0)) })
        return try await isFull() ? (min(count, 1), true) : (count, false)
    }

    /// Creates pushes until the host stops. A failed step is logged once, and repeated until it succeeds.
    func run() async {
        var told: String?
        var arrivals: MailArrivals?
        while !stopping.isRaised {
            do {
                // Keep this object after errors, because it knows which messages were there before.
                if arrivals == nil { arrivals = try await open() }
                if let arrivals { try await watch(arrivals) { told = nil } }
            } catch {
                // A step that is running when the host stops ends with a cancellation, which is not logged.
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

    /// Returns true if this is the cores' Maildir, under this path or another. It may be moved meanwhile. Throws if a
    /// path cannot be resolved. With the answer false, the notes on its messages would be removed, and the messages
    /// would be announced again.
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

    /// Returns the messages of the inbox that wait to be acknowledged; nil if the cores use another Maildir.
    private func unacknowledged() async throws(SharedCoreError) -> [Inbox.Unacknowledged]? {
        try await isCoreMaildir() ? try await inbox.unacknowledged() : nil
    }

    /// Returns true if an announced message waits to be acknowledged: its file is in the Maildir, or the inbox has it.
    /// False if the cores use another Maildir.
    func isWaiting(_ callID: CallID) async throws(SharedCoreError) -> Bool {
        guard try await isCoreMaildir() else { return false }
        do throws(SharedCoreError) {
            switch try await inbox.state(of: callID) {
            case .stored, .taken: return true
            case .acknowledged, .nothingToShow: return false
            // If the file was removed, its note is removed at the next read, which is within ten seconds.
            case .absent: return try await queue.knownArrivals().values.contains(PushQueue.part(for: callID))
            }
        } catch {
            // A message counts as not waiting if its record is damaged or of another version, because no Executor can
            // show it.
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
        // Read the inbox at the start and after a time without arrivals. All other changes are reported as arrivals.
        var mustReadInbox = true
        while !stopping.isRaised {
            // Read the inbox before the folders. A message that a core stores and moves after this read is then still
            // seen in the folder.
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
                // Only the group refuses. The Maildir works, and its messages are safe in it.
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
            // Pause even if the next arrival would wake this loop at once.
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

    /// Creates the push of a message that has arrived, and notes that the message has become a push.
    ///
    /// - Returns: True if a push was created. If not, nothing was noted.
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

    /// Creates a push for each message of the inbox that was not announced and that no participant has in hand.
    private func pushUnannounced(
        _ inbox: [Inbox.Unacknowledged], known: inout [String: String]
    ) async throws(SharedCoreError) {
        let announced = Set(known.values)
        for message in inbox where !message.isTaken && PushID.callID(message.callID.text) != nil {
            let part = PushQueue.part(for: message.callID)
            // Skip a message that was announced, either by its file or by the same record of the inbox. A message that
            // was given back and stored again has a record with another revision.
            guard !announced.contains(part), known[part] != message.revision.description else { continue }
            _ = try await queue.announce(
                message.callID, as: part, noting: message.revision.description, replacing: known[part] != nil)
            known[part] = message.revision.description
        }
    }

    /// Removes the note of each message that is in neither the folder nor the inbox. A message whose file is gone but
    /// which is in the inbox is noted by its inbox revision: if its file is given back, it becomes a push again.
    private func forget(
        _ known: inout [String: String], except names: Set<String>, _ inbox: [Inbox.Unacknowledged]?
    ) async throws(SharedCoreError) {
        let standing = Set(names.map(PushQueue.part))
        // For a message of the inbox, the note is a revision.
        let hasFileGone = known.contains { part, note in !standing.contains(part) && UInt64(note) == nil }
        guard inbox != nil || hasFileGone else { return }
        // Read the inbox after the folders: if a file has left `new`, its message must then be in the inbox.
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
