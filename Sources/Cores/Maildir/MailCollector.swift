internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import Platform

/// Takes the arrivals of a Maildir and delivers them, until the task is cancelled.
///
/// Each message is committed first and moved to `cur` afterwards. If the process is killed in between, the next core
/// finds the message again, learns that it is a duplicate, and moves it (contract C8, C10).
struct MailCollector {
    private let source: MailSource
    private let thread: SerialThread
    private let clock: any TimeSource
    private let context: CoreContext
    private let pace: CollectionPace
    private let memory: UInt64?

    /// Names of directory entries that are not regular files and were reported, so that each is reported once.
    private var reportedOthers: Set<FileName> = []
    private var troubled = MailTroubles()
    /// The messages that have ended processes of earlier cores.
    private var attempts: MailAttempts
    private var knowsAttempts = false
    /// A message that stays in its file. Either the inbox has no space for it, or no participant waits for it. In the second
    /// case, this core takes only awaited messages, or the group has much content.
    private struct Held {
        let item: ItemName
        /// An upper bound of the size of its record.
        let byteCount: Int
    }

    /// The messages that wait in their files, by file.
    private var held: [FileName: Held] = [:]
    /// When a message was last taken although the limit was reached.
    private var lastBeyondRoom: BootInstant?
    /// How many files that are set aside are still reported in this round, and how many were not.
    private var reportsLeft = 0
    private var unreportedCount = 0

    init(source: MailSource, thread: SerialThread, clock: any TimeSource, context: CoreContext, memory: UInt64?) {
        self.source = source
        self.thread = thread
        self.clock = clock
        self.context = context
        self.pace = CollectionPace(role: context.role)
        self.memory = memory
        self.attempts = MailAttempts(in: context.store)
    }

    /// An upper bound of a record's size beside the content of its message.
    private static let recordByteCount = 1_024
    /// A round ends after this many failures: if nothing can be stored, it is useless to try the remaining messages.
    private static let troublesPerRound = 32
    /// How many files without an identifier are reported in one round. More are counted: each report is an entry of the
    /// group, and costs as much as a message.
    private static let reportsPerRound = 10

    /// The number of messages that one round may leave in their files. After that, messages that participants have
    /// begun to wait for meanwhile are handled first: a folder of a thousand takes long to read.
    private static let heldPerRound = 50

    /// The result of a round over the folder, or of one message of it.
    private enum Outcome {
        /// Nothing is left to do before the next arrival.
        case settled
        /// There is more to do at once.
        case more
        /// A file is still being written; its end may not be reported.
        case unfinished
        /// A message waits in its file, for a participant or for space in the group.
        case held
        /// A failure that may pass.
        case trouble
    }

    /// Runs until the task is cancelled.
    ///
    /// - Throws: The store's error, if this core can store nothing more.
    mutating func run() async throws {
        var isReported = false
        var unfinished = 0
        var troubles = 0
        while !Task.isCancelled {
            if !isReported, let failure = source.arrivalSignal.failure {
                isReported = true
                await context.report(
                    "The Maildir \(source.path) cannot be watched (\(failure.reason)). Until it can be, it is read every "
                        + "\(pace.unwatched).")
            }
            let outcome = try await collect()
            unfinished = outcome == .unfinished ? unfinished + 1 : 0
            troubles = outcome == .trouble ? troubles + 1 : 0
            switch outcome {
            case .more: break
            case .settled:
                await waitForArrivals(atMost: source.arrivalSignal.failure == nil ? pace.idle : pace.unwatched)
            case .unfinished: await waitForArrivals(atMost: pace.unfinished(unfinished))
            case .held: await waitForAwaited(atMost: source.arrivalSignal.failure == nil ? pace.held : pace.unwatched)
            case .trouble: try? await clock.sleep(until: clock.now().advanced(by: pace.trouble(troubles)))
            }
        }
    }

    private func waitForArrivals(atMost timeout: Duration) async {
        let arrivalSignal = source.arrivalSignal
        await withTaskCancellationHandler {
            await thread.run { arrivalSignal.wait(timeout: timeout) }
        } onCancel: {
            arrivalSignal.stop()
        }
    }

    /// Waits until something arrives, a participant waits for a message that stayed in its file, or the folder must be
    /// read again.
    private func waitForAwaited(atMost timeout: Duration) async {
        let room = try? await inboxRoom()
        // A message without space in the inbox may already be awaited.
        let items = Set(held.values.filter { room?.fits($0.byteCount, isAwaited: true) ?? true }.map(\.item))
        let watching = Task { [context, arrivalSignal = source.arrivalSignal] in
            // If the store cannot be watched now, the timeout ends the wait.
            guard let watch = try? await context.store.watch(Expectation.path) else { return }
            let isAwaited = await withTaskCancellationHandler {
                while let event = try? await watch.next() {
                    let places = event.puts.compactMap { Expectation.place(of: $0) }
                    if places.contains(where: { items.contains($0.item.parts.call) }) { return true }
                }
                return false
            } onCancel: {
                watch.cancel()
            }
            watch.cancel()
            if isAwaited { arrivalSignal.signal() }
        }
        await waitForArrivals(atMost: timeout)
        watching.cancel()
        await watching.value
    }

    /// Collects the messages of the folder once.
    private mutating func collect() async throws -> Outcome {
        let look: MailSource.Look
        do throws(SystemCallError) {
            look = try await thread.run { [source, knowsAttempts] () throws(SystemCallError) in
                try source.look(takingMarks: !knowsAttempts)
            }
        } catch {
            return await trouble("The Maildir cannot be read: \(error)")
        }
        troubled.folderWasRead()
        await report(look.arrivals.others, in: look.maildir)
        if !knowsAttempts {
            do throws(SharedCoreError) {
                try await attempts.load(standing: look.arrivals, marks: look.marks)
                knowsAttempts = true
                FailPoint.hit("maildir.counted")
                await thread.run { for mark in look.marks { look.maildir.unmark(mark.name) } }
            } catch {
                return try await trouble(storing: nil, error)
            }
        }

        (reportsLeft, unreportedCount) = (Self.reportsPerRound, 0)
        let outcome = try await collect(look)
        if unreportedCount > 0 {
            await context.report(
                "\(unreportedCount) more files of \(look.maildir.new.path) were not delivered and are "
                    + "in \(look.maildir.path)/\(SideFolder.malformed.rawValue)/new now.")
        }
        return outcome
    }

    /// Goes through the files that were listed.
    private mutating func collect(_ look: MailSource.Look) async throws -> Outcome {
        let names = look.arrivals.messages
        let waiting = Set(held.keys)
        let empty = await thread.run { [source] in
            // Report only the first ones individually.
            Set(
                source.setAsideEmpty(
                    names.dropFirst(Self.reportsPerRound).filter { !waiting.contains($0) }, in: look.maildir))
        }
        unreportedCount = empty.count
        var round: Outcome = look.arrivals.isPartial ? .more : .settled
        var troubles = 0
        var heldCount = 0
        if !held.isEmpty {
            let standing = Set(names)
            held = held.filter { standing.contains($0.key) }
        }
        // A message that stayed in its file is read again only if a participant waits for it and it fits into the
        // inbox. If the group has much content, a Main also takes one other message each second.
        var awaited: Set<ItemName> = []
        var isScarce = false
        var room: InboxRoom?
        do throws(SharedCoreError) {
            if !held.isEmpty {
                isScarce = takesOnlyAwaited
                if !isScarce { isScarce = try await isBeyondRoom() }
                awaited = try await awaitedItems()
                room = try await inboxRoom()
            }
        } catch {
            return try await trouble(storing: nil, error)
        }
        for name in harmlessFirst(names) where !empty.contains(name) {
            if Task.isCancelled { return .settled }
            if let waiting = held[name] {
                let isAwaited = awaited.contains(waiting.item)
                if room?.fits(waiting.byteCount, isAwaited: isAwaited) == false
                    || isScarce && !isAwaited && !mayTakeUnawaited
                {
                    if troubles == 0, round != .unfinished { round = .held }
                    continue
                }
            }
            switch try await collect(name, in: look.maildir) {
            case .settled, .more: continue
            case .held:
                heldCount += 1
                if heldCount == Self.heldPerRound { return troubles == 0 ? .more : .trouble }
                if troubles == 0, round != .unfinished { round = .held }
            case .unfinished: if troubles == 0 { round = .unfinished }
            case .trouble:
                // Continue with the other messages, because the failure may concern only this one.
                round = .trouble
                troubles += 1
                if troubles == Self.troublesPerRound { return .trouble }
            }
        }
        return round
    }

    /// Returns the messages in the order in which to try them: a message that has ended a process comes last, so that
    /// it delays no other.
    private mutating func harmlessFirst(_ names: [FileName]) -> [FileName] {
        let names = troubled.last(names)
        return names.filter { attempts.count(of: $0) == 0 } + names.filter { attempts.count(of: $0) > 0 }
    }

    private mutating func collect(_ name: FileName, in maildir: Maildir) async throws -> Outcome {
        let opening: MailSource.Opening
        do throws(SystemCallError) {
            opening = try await thread.run { [source] () throws(SystemCallError) in try source.open(name, in: maildir) }
        } catch {
            return await trouble("A message cannot be opened now: \(error)", with: name)
        }
        switch opening {
        case .file(let file, let byteCount):
            return try await read(file, byteCount: byteCount, as: name, in: maildir)
        case .refused(let refusal):
            return try await setAside(name, refusal, in: maildir)
        case .beingWritten:
            return .unfinished
        case .other:
            await report([name], in: maildir)
            return .settled
        case .nothing:
            return .settled
        }
    }

    private mutating func read(
        _ file: OpenFile, byteCount: Int, as name: FileName, in maildir: Maildir
    ) async throws -> Outcome {
        let count = attempts.count(of: name)
        guard count < MailAttempts.limit else {
            let refusal = await thread.run { [source] in
                source.reader.refusal(.fatal(count: count), of: file, byteCount: byteCount)
            }
            return try await setAside(name, refusal, in: maildir)
        }
        let reading = await thread.run { [source] in
            maildir.marking(name) {
                FailPoint.hit("maildir.reading")
                return source.read(file, byteCount: byteCount)
            }
        }
        do throws(SharedCoreError) {
            try await attempts.forget(name)
        } catch {
            return try await trouble(storing: name, error)
        }
        switch reading {
        case .success(let message): return try await deliver(message, from: name, in: maildir)
        case .failure(let refusal): return try await setAside(name, refusal, in: maildir)
        }
    }

    /// True if this core takes only messages that a participant waits for, and leaves the others in their files. If an
    /// Executor's core took another message, the inbox would keep it for a limited time only, and `new` would no longer
    /// have it. A Main shows its messages itself.
    private var takesOnlyAwaited: Bool { context.role == .executor }

    /// True if the core may take a message for which no participant waits.
    private var mayTakeUnawaited: Bool {
        !takesOnlyAwaited && lastBeyondRoom.map { $0.advanced(by: MailRoom.pace) <= clock.now() } ?? true
    }

    private func isBeyondRoom() async throws(SharedCoreError) -> Bool {
        try await MailRoom.isFull(context.store, memory: memory, part: MailRoom.takenPart)
    }

    private func inboxRoom() async throws(SharedCoreError) -> InboxRoom {
        try await InboxRoom(in: context.store, memory: memory)
    }

    /// Returns the items that participants wait for.
    private func awaitedItems() async throws(SharedCoreError) -> Set<ItemName> {
        Set(
            try await context.store.list(Expectation.path).entries.compactMap {
                Expectation.place(of: $0.key)?.item.parts.call
            })
    }

    /// Returns true if a message may be stored in the group now. If not, it is recorded as waiting in its file.
    private mutating func takesIn(_ message: InboxMessage, from name: FileName) async throws(SharedCoreError) -> Bool {
        let waiting = Held(
            item: ItemName(message.callID.text), byteCount: message.payloadByteCount + Self.recordByteCount)
        if takesOnlyAwaited {
            if try await !awaitedItems().contains(waiting.item) {
                if try await isOver(message.callID) { return true }
            } else if try await inboxRoom().fits(waiting.byteCount, isAwaited: true) {
                return true
            }
        } else {
            let room = try await inboxRoom()
            let fits = room.fits(waiting.byteCount, isAwaited: false)
            if fits, try await !isBeyondRoom() { return true }
            if try await awaitedItems().contains(waiting.item) {
                if room.fits(waiting.byteCount, isAwaited: true) { return true }
            } else if fits, mayTakeUnawaited {
                lastBeyondRoom = clock.now()
                return true
            }
        }
        held[name] = waiting
        return false
    }

    /// Returns whether the group remembers that a message was acknowledged or has nothing to show: its file is a
    /// duplicate, or a core had no time to move it.
    private func isOver(_ callID: CallID) async throws(SharedCoreError) -> Bool {
        do throws(SharedCoreError) {
            switch try await Inbox(context.store).state(of: callID, consistency: .causal) {
            case .acknowledged, .nothingToShow: return true
            case .absent, .stored, .taken: return false
            }
        } catch {
            // An unreadable record of one message must not delay the other messages.
            guard error.code == .corrupt || error.code == .incompatible else { throw error }
            return false
        }
    }

    private mutating func deliver(
        _ message: InboxMessage, from name: FileName, in maildir: Maildir
    ) async throws -> Outcome {
        do throws(SharedCoreError) {
            guard try await takesIn(message, from: name) else { return .held }
            held[name] = nil
            try await context.deliver(message)
        } catch {
            switch error.code {
            case .limitExceeded:
                let refusal = MailRefusal(.tooLarge, callID: message.callID, people: message.people)
                return try await setAside(name, refusal, in: maildir)
            case .invalidArgument:
                return try await setAside(name, MailRefusal(.refusedIdentifier(error.message)), in: maildir)
            default:
                return try await trouble(storing: name, error)
            }
        }
        FailPoint.hit("maildir.beforeAcknowledgement")
        return await move(name) { () throws(SystemCallError) in try maildir.keep(name) }
    }

    /// Moves a file that cannot be delivered out of the way, and reports it. If its identifier is known, an answer for
    /// a waiting participant is stored first: the notice that the message is too large, with its sender, else that
    /// there is nothing to show. The answer takes space in the inbox as a message does, so an Executor's core leaves
    /// the file in place if no participant waits for it.
    private mutating func setAside(
        _ name: FileName, _ refusal: MailRefusal, in maildir: Maildir
    ) async throws -> Outcome {
        if let callID = refusal.callID {
            do throws(SharedCoreError) {
                let notice = InboxMessage(callID: callID, content: refusal.notice)
                if takesOnlyAwaited, try await !takesIn(notice, from: name) { return .held }
                held[name] = nil
                do throws(SharedCoreError) {
                    try await context.deliver(notice)
                } catch {
                    // If the addresses are too large for a value, the mark is delivered.
                    guard error.code == .limitExceeded, notice.content != .nothingToShow else { throw error }
                    try await context.deliver(InboxMessage(callID: callID, content: .nothingToShow))
                }
            } catch {
                // The identifier is too long for any record. No participant can wait for it, so the message needs no
                // mark.
                guard error.code == .limitExceeded else { return try await trouble(storing: name, error) }
            }
        }
        let folder = refusal.folder
        let outcome = await move(name) { () throws(SystemCallError) in try maildir.setAside(name, in: folder) }
        guard outcome == .settled else { return outcome }
        do throws(SharedCoreError) {
            try await attempts.forget(name)
        } catch {
            return try await trouble(storing: name, error)
        }
        if refusal.callID == nil, folder == .malformed {
            guard reportsLeft > 0 else {
                unreportedCount += 1
                return .settled
            }
            reportsLeft -= 1
        }
        await context.report(
            "The file \(maildir.location(of: name)) \(refusal.explanation). It was not delivered and is in "
                + "\(maildir.path)/\(folder.rawValue)/new now.")
        return .settled
    }

    private mutating func move(
        _ name: FileName, by body: @escaping @Sendable () throws(SystemCallError) -> Void
    ) async -> Outcome {
        do throws(SystemCallError) {
            try await thread.run(body)
            troubled.forget(name)
            return .settled
        } catch {
            return await trouble("A message cannot be moved now: \(error)", with: name)
        }
    }

    /// Records that a message could not be stored, and lets the core try again later.
    ///
    /// - Throws: The error itself if trying again cannot succeed or would be wrong.
    private mutating func trouble(storing name: FileName?, _ error: SharedCoreError) async throws -> Outcome {
        switch error.code {
        case .guardFailed, .sessionEnded, .closed, .cancelled, .unsupported, .incompatible, .corrupt: throw error
        default:
            return await trouble("A message cannot be stored now: \(error)", with: name)
        }
    }

    /// Notes a failure that may pass, with a message or with the folder.
    private mutating func trouble(_ problem: String, with name: FileName? = nil) async -> Outcome {
        if troubled.note(problem, with: name) {
            await context.report(problem + ". It stays where it is and is tried again.")
        }
        return .trouble
    }

    private mutating func report(_ others: [FileName], in maildir: Maildir) async {
        for name in others where reportedOthers.count < 100 && reportedOthers.insert(name).inserted {
            await context.report("\(maildir.location(of: name)) is not a file. It was passed over.")
        }
    }
}

extension WatchEvent {
    /// The keys of the entries, or of those that were put.
    fileprivate var puts: [Key] {
        switch self {
        case .snapshot(let snapshot), .lagged(let snapshot): snapshot.entries.map(\.key)
        case .changes(let set): set.changes.filter { $0.kind == .put }.map(\.key)
        }
    }
}
