internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform

/// A participant with a loop as its core: `<directory> <role> <flaw> <endProcess|giveUp>`.
///
/// It prints `runs` when its core runs. The flaw `hang` never returns from `dispatch`, which prints `hangs`; `foreign`
/// delivers on a thread that is not the loop's. Then it takes orders. `close` ends the participation and prints
/// `closed`. `leave` closes the group's handle alone and prints `left`. `fill` replaces standard error by a pipe that
/// is full, and prints `filled`.
enum LoopProgram {
    // Only an order ends the core: on a busy machine an Executor's core would be over before the order comes.
    static let options = CoordinationOptions(
        executorBudget: .seconds(600), coreLinger: .seconds(600), stopTimeout: .seconds(1))

    static func run(_ words: [String]) async {
        do {
            guard words.count == 4 else {
                throw SharedCoreError(.invalidArgument, "A directory, a role, a flaw and an action.", at: "arguments")
            }
            let isMain = words[1] == "main"
            let group = try await FileGroup.open(
                directory: words[0], as: SessionDescription(role: isMain ? .main : .executor, name: "loop"))
            var environment = CoordinationEnvironment()
            environment.witness = FileWitness(path: words[0] + "/witness")
            let makeCore: @Sendable () -> any Core = {
                LoopCore(ifStuck: words[3] == "giveUp" ? .giveUp : .endProcess) { FlawedStack(words[2]) }
            }
            let close: () async -> Void
            if isMain {
                let main = try MainParticipant(of: group, options: options, environment: environment, core: makeCore)
                try await main.start()
                close = { await main.stop() }
            } else {
                let executor = try ExecutorParticipant(
                    of: group, options: options, environment: environment, core: makeCore)
                try await executor.start()
                close = { await executor.close() }
            }
            say("runs")
            let orders = AwaitedInputLines()
            while let order = await orders.next() {
                switch order {
                case "close":
                    await close()
                    say("closed")
                case "leave":
                    await group.close()
                    say("left")
                default:
                    fillErrors()
                    say("filled")
                }
            }
        } catch {
            say("failed \(error)")
        }
    }

    private static func fillErrors() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let page = [UInt8](repeating: 0, count: 4096)
        while write(ends[1], page, page.count) > 0 {}
        _ = fcntl(ends[1], F_SETFL, 0)
        dup2(ends[1], STDERR_FILENO)
    }

    fileprivate static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

private final class FlawedStack: LoopStack {
    private let flaw: String

    init(_ flaw: String) {
        self.flaw = flaw
    }

    func start(on loop: LoopContext) throws {
        guard flaw == "foreign", let callID = CallID("foreign") else { return }
        try OwnedThread.start("foreign") {
            _ = try? loop.deliver(InboxMessage(callID: callID, content: .nothingToShow))
            LoopProgram.say("delivered")
        }
    }

    func prepare() -> LoopWait { .every(.milliseconds(1)) }

    func dispatch(_ ready: [LoopDescriptor]) {
        guard flaw == "hang" else { return }
        LoopProgram.say("hangs")
        while true { pause() }
    }

    func stop(_ request: StopRequest) {}

    func close() {}
}
