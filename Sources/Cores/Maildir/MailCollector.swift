internal import Coordination
internal import CoreAPI
internal import Platform

/// Takes what arrives in a Maildir and hands it over, until the task is cancelled.
///
/// Each message is committed first and moved to `cur` afterwards. Killed in between, the next core finds it again, hears
/// that it is a duplicate and moves it then (contract C8, C10).
struct MailCollector {
    private let source: MailSource
    private let thread: SerialThread
    private let clock: any TimeSource
    private let context: CoreContext
    private let pace: CollectionPace

    /// What is no file and was reported as such, so that it is reported once.
    private var reportedOthers: Set<FileName> = []
    /// The message that met the last trouble. It comes last in the next round, so that it holds up no other.
    private var troubled: FileName?
    /// The trouble that was reported last; nil since something went well.
    private var reportedTrouble: String?

    init(source: MailSource, thread: SerialThread, clock: any TimeSource, context: CoreContext) {
        self.source = source
        self.thread = thread
        self.clock = clock
        self.context = context
        self.pace = CollectionPace(role: context.role)
    }

    /// More than a record takes beside what its message carries.
    private static let recordByteCount = 1_024

    private var valueByteCount: Int { context.store.capabilities.limits.valueByteCount }

    /// What a round over the folder, or one message of it, came to.
    private enum Outcome {
        /// All is done that can be done.
        case settled
        /// There is more to do at once.
        case more
        /// A file is still being written; nobody may ring when it is finished.
        case unfinished
        /// Something failed that may pass.
        case trouble
    }

    /// Works until the task is cancelled.
    ///
    /// - Throws: The store's error when nothing more of this core can be stored.
    mutating func run() async throws {
        if let failure = source.bell.failure {
            await context.report(
                "The Maildir \(source.path) cannot be watched (\(failure)); it is looked at from time to time instead.")
        }
        var unfinished = 0
        var troubles = 0
        while !Task.isCancelled {
            let outcome = try await collect()
            unfinished = outcome == .unfinished ? unfinished + 1 : 0
            troubles = outcome == .trouble ? troubles + 1 : 0
            switch outcome {
            case .more: break
            case .settled: await waitForArrivals(atMost: source.bell.failure == nil ? pace.idle : pace.unwatched)
            case .unfinished: await waitForArrivals(atMost: pace.unfinished(unfinished))
            case .trouble: try? await clock.sleep(until: clock.now().advanced(by: pace.trouble(troubles)))
            }
        }
    }

    private func waitForArrivals(atMost timeout: Duration) async {
        let bell = source.bell
        await withTaskCancellationHandler {
            await thread.run { bell.wait(timeout: timeout) }
        } onCancel: {
            bell.stop()
        }
    }

    /// One round over the folder.
    private mutating func collect() async throws -> Outcome {
        let look: MailSource.Look
        do throws(SystemCallError) {
            look = try await thread.run { [source] () throws(SystemCallError) in try source.look() }
        } catch {
            return await trouble("The Maildir cannot be read: \(error)")
        }
        await report(look.arrivals.others, in: look.maildir)

        var names = look.arrivals.messages
        if let troubled, let index = names.firstIndex(of: troubled) { names.append(names.remove(at: index)) }
        var round: Outcome = look.arrivals.isPartial ? .more : .settled
        for name in names {
            if Task.isCancelled { return .settled }
            switch try await collect(name, in: look.maildir) {
            case .settled, .more: continue
            case .unfinished: round = .unfinished
            case .trouble: return .trouble
            }
        }
        return round
    }

    private mutating func collect(_ name: FileName, in maildir: Maildir) async throws -> Outcome {
        let reading: MailSource.Reading
        do throws(SystemCallError) {
            reading = try await thread.run { [source] () throws(SystemCallError) in try source.read(name, in: maildir) }
        } catch {
            return await trouble("A message cannot be opened now: \(error)", with: name)
        }
        switch reading {
        case .message(let message):
            return try await deliver(message, from: name, in: maildir)
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

    private mutating func deliver(
        _ message: InboxMessage, from name: FileName, in maildir: Maildir
    ) async throws -> Outcome {
        do throws(SharedCoreError) {
            try await context.deliver(message)
        } catch {
            switch error.code {
            case .limitExceeded where message.payloadByteCount > valueByteCount - Self.recordByteCount:
                return try await setAside(name, MailRefusal(.tooLarge, callID: message.callID), in: maildir)
            case .invalidArgument:
                return try await setAside(name, MailRefusal(.refusedIdentifier(error.message)), in: maildir)
            default:
                return try await trouble(storing: name, error)
            }
        }
        FailPoint.hit("maildir.beforeAcknowledgement")
        return await move(name) { () throws(SystemCallError) in try maildir.keep(name) }
    }

    /// Moves a file out of the way that cannot be delivered, and says so. Where its identifier is known, whoever waits
    /// for it first gets the answer that there is nothing to show.
    private mutating func setAside(
        _ name: FileName, _ refusal: MailRefusal, in maildir: Maildir
    ) async throws -> Outcome {
        if let callID = refusal.callID {
            do throws(SharedCoreError) {
                try await context.deliver(InboxMessage(callID: callID, content: .nothingToShow))
            } catch {
                return try await trouble(storing: name, error)
            }
        }
        let folder = refusal.folder
        let outcome = await move(name) { () throws(SystemCallError) in try maildir.setAside(name, in: folder) }
        guard outcome == .settled else { return outcome }
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
            reportedTrouble = nil
            if troubled == name { troubled = nil }
            return .settled
        } catch {
            return await trouble("A message cannot be moved now: \(error)", with: name)
        }
    }

    /// - Throws: The error itself when trying again would be in vain or wrong.
    private mutating func trouble(storing name: FileName, _ error: SharedCoreError) async throws -> Outcome {
        switch error.code {
        case .guardFailed, .sessionEnded, .closed, .cancelled, .unsupported, .incompatible, .corrupt: throw error
        default: return await trouble("A message cannot be stored now: \(error)", with: name)
        }
    }

    /// Takes note of a failure that may pass. The same one is reported once, until something has gone well.
    private mutating func trouble(_ problem: String, with name: FileName? = nil) async -> Outcome {
        troubled = name
        if reportedTrouble != problem {
            reportedTrouble = problem
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
