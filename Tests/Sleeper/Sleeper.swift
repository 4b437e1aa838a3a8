internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform

/// A program that runs on its first thread alone, so that a test can observe its threads.
///
///     sharedcore-test-sleeper DIRECTORY [rest|hold]
///
/// It joins the group, takes part as an Executor that gets no request, sleeps a moment and prints `ready`. Then it
/// waits for a post to `news`: the post's state is its status, and zero makes it fail.
///
/// With `rest` it is the group's Main, with a core on the delivery executor. It prints `rests` when it rests, and
/// `resumed` when its core resumes, and ends with its standard input. With `hold` it is the holder: it prints `holds`,
/// and a line of its input wakes the Main.
@main
enum Sleeper {
    private struct NoCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws {}
        func stop() async {}
    }

    static func main() {
        MainThread.run {
            switch CommandLine.arguments.dropFirst(2).first {
            case "rest": return try await RestingMain.run()
            case "hold": return try await hold()
            default: break
            }
            let group = try await FileGroup.open(
                directory: CommandLine.arguments[1], as: SessionDescription(role: .executor, name: "sleeper"))
            let executor = try ExecutorParticipant(of: group) { NoCore() }
            let posts = try await group.observe("news")
            let clock = SystemClock()
            async let slept: Void = clock.sleep(until: clock.now().advanced(by: .milliseconds(10)))
            try await slept
            try StandardOutput.write("ready\n")
            guard let post = try await posts.next() else { return 99 }
            if post.state == 0 { throw SharedCoreError(.invalidArgument, "It was told to fail.", at: "news") }
            await executor.close()
            await group.close()
            return Int32(post.state)
        }
    }

    private static func hold() async throws -> Int32 {
        let group = try await FileGroup.open(
            directory: CommandLine.arguments[1], as: SessionDescription(role: .tool, name: "holder"))
        let holder = try HolderParticipant(of: group)
        try await holder.start()
        try StandardOutput.write("holds\n")
        _ = Poll.wait(for: [STDIN_FILENO], timeout: nil)
        await holder.wakeMain(for: .push)
        await holder.stop()
        await group.close()
        return 0
    }
}

/// A Main that rests, in a process that sleeps.
private enum RestingMain {
    private struct QuietCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws {
            let clock = SystemClock()
            while true { try await clock.sleep(until: clock.now().advanced(by: .seconds(86_400))) }
        }
        func stop() async {}
        func rest(in context: CoreContext) async throws {}
        func resume(in context: CoreContext, for wake: Wake) async throws { try StandardOutput.write("resumed\n") }
    }

    static func run() async throws -> Int32 {
        let group = try await FileGroup.open(
            directory: CommandLine.arguments[1], as: SessionDescription(role: .main, name: "sleeper"))
        var environment = CoordinationEnvironment()
        environment.coreExecutor = group.deliveryExecutor
        let main = try MainParticipant(of: group, environment: environment) { QuietCore() }
        try await main.start(takingOver: true)
        let clock = SystemClock()
        while true {
            do throws(CoordinationError) {
                try await main.rest()
                break
            } catch {
                // The core does not run yet.
                guard error.code == .refused else { throw error }
                try await clock.sleep(until: clock.now().advanced(by: .milliseconds(10)))
            }
        }
        try StandardOutput.write("rests\n")
        // Only the end of the input wakes this thread, and the wait needs no thread of the pool.
        _ = Poll.wait(for: [STDIN_FILENO], timeout: nil)
        await main.stop()
        await group.close()
        return 0
    }
}

private enum StandardOutput {
    static func write(_ text: String) throws {
        try OpenFile(owning: dup(STDOUT_FILENO), path: "standard output").writeStream(Array(text.utf8))
    }
}
