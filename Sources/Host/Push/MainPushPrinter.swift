internal import Coordination
internal import CoreAPI
internal import Logging
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Prints the pushes that a Main takes, and acknowledges each after it is printed (contract P13). If the process is
/// killed in between, the next Main prints the push again.
final class MainPushPrinter: Sendable {
    private let main: MainParticipant
    private let output: Output
    private let logger: Logger
    private let failure = Mutex<(any Error)?>(nil)

    /// The pause before the next attempt if the store refuses.
    private static let trouble = Duration.seconds(1)

    init(of main: MainParticipant, to output: Output, logger: Logger) {
        self.main = main
        self.output = output
        self.logger = logger
    }

    /// Takes and prints pushes until the Main has ended. If the output fails, stops the Main.
    func run() async {
        do {
            while true {
                do {
                    for try await taken in try await main.pushes() {
                        FailPoint.hit("push.taken")
                        try await show(taken.push)
                        FailPoint.hit("push.handled")
                        try await acknowledge(taken)
                        FailPoint.hit("push.acknowledged")
                    }
                    return
                } catch let error as CoordinationError where error.code == .store {
                    try await wait(because: error)
                }
            }
        } catch is CoordinationError {
            // The Main has ended, and reports the reason.
        } catch is CancellationError {
        } catch {
            failure.withLock { $0 = error }
            await main.stop()
        }
    }

    /// Throws if a push could not be printed.
    ///
    /// - Throws: The error with which printing failed.
    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func show(_ push: Push) async throws {
        try await output.confirm(
            text: "Push \(ValueText.oneLine(push.callID.text)), type \(push.type)"
                + (push.account.isEmpty ? "" : ", account \(ValueText.oneLine(push.account))")
                + (push.payload.isEmpty ? "" : ": " + ValueText.oneLine(push.payload)),
            json: [
                "event": "push", "callID": .text(push.callID.text), "type": .text(push.type),
                "account": .text(push.account), "payload": .text(Base64.encode(push.payload)),
            ])
    }

    /// Acknowledges a push that was printed, and tries again while the store refuses. The push stays in this Main's
    /// hand meanwhile.
    private func acknowledge(_ taken: TakenPush) async throws {
        while true {
            do throws(CoordinationError) {
                try await main.acknowledge(taken)
                return
            } catch {
                guard error.code == .store else { throw error }
                try await wait(because: error)
            }
        }
    }

    private func wait(because error: CoordinationError) async throws {
        logger.warning("pushes for Main wait: \(error.cause?.sentence ?? error.message.ending(withCode: error.code))")
        try await Task.sleep(for: Self.trouble)
    }
}
