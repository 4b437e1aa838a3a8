internal import Coordination
internal import CoreAPI
internal import Logging
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// Makes each new message of a Maildir a push. The messages stay where they are: a core takes them.
struct PushMaildir: Sendable {
    let path: String
    let queue: PushQueue
    let logger: Logger
    let stopping: StopSignal

    private let thread = SerialThread(name: "push-maildir")

    /// How long it waits where nothing rings, and where something could not be done.
    private static let idle = Duration.seconds(10)
    private static let unwatched = Duration.milliseconds(500)
    private static let unfinished = Duration.milliseconds(500)
    private static let trouble = Duration.seconds(5)

    init(_ path: String, _ queue: PushQueue, logger: Logger, stopping: StopSignal) {
        self.path = path
        self.queue = queue
        self.logger = logger
        self.stopping = stopping
    }

    /// Works until it is to stop. Whatever fails is said once, until it works again, and tried again.
    func run() async {
        var told: String?
        var arrivals: MailArrivals?
        while !stopping.isRaised {
            do {
                // The same through all troubles: it knows what was there before.
                if arrivals == nil { arrivals = try await open() }
                if let arrivals { try await watch(arrivals) { told = nil } }
            } catch {
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

    private func watch(_ arrivals: MailArrivals, works: () -> Void) async throws {
        let ending = Task { [stopping] in
            await stopping.wait()
            if stopping.isRaised { arrivals.stop() }
        }
        defer { ending.cancel() }
        var known = try await queue.knownFiles()
        var wasFull = false
        var wasUnwatched = false
        while !stopping.isRaised {
            let look = try await thread.run { [known] () throws(SystemCallError) in
                try arrivals.look { known.contains(PushQueue.part(for: $0)) }
            }
            var rest = look.arrivals[...]
            var refusal: SharedCoreError?
            while let arrival = rest.first {
                do throws(SharedCoreError) {
                    known.insert(try await push(arrival))
                } catch {
                    guard error.code == .limitExceeded else { throw error }
                    // The Maildir is as it should be, and its messages are safe in it.
                    refusal = error
                    break
                }
                rest.removeFirst()
            }
            arrivals.confirm(look, except: rest)
            known = try await forget(known, except: look.standing)
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
            let pause =
                if look.isUnfinished { Self.unfinished } else if reason != nil { Self.unwatched } else { Self.idle }
            await thread.run { arrivals.wait(timeout: pause) }
        }
    }

    /// - Returns: What stands for the file.
    private func push(_ arrival: MailArrivals.Arrival) async throws(SharedCoreError) -> String {
        let part = PushQueue.part(for: arrival.name)
        let callID = arrival.callID.flatMap { PushID.callID($0.text) }
        let isNew = try await queue.send(callID, file: part)
        if isNew, callID == nil {
            let problem = arrival.problem ?? "has a call-id that is not \(PushID.expectation)"
            logger.warning("the file “\(ValueText.oneLine(arrival.name))” of \(path) is no push: it \(problem)")
        }
        return part
    }

    /// Forgets those that have gone.
    ///
    /// - Returns: The others.
    private func forget(
        _ known: Set<String>, except names: Set<String>
    ) async throws(SharedCoreError) -> Set<String> {
        let standing = Set(names.map(PushQueue.part))
        let gone = known.subtracting(standing)
        // A transaction has a size.
        for start in stride(from: 0, to: gone.count, by: 500) {
            try await queue.forgetFiles(gone.dropFirst(start).prefix(500))
        }
        return known.intersection(standing)
    }
}
