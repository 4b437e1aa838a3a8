internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform

/// A program that runs on its first thread alone, so that a test can observe its threads.
///
///     sharedcore-test-sleeper DIRECTORY
///
/// It joins the group, takes part as an Executor that gets no request, sleeps a moment, prints `ready`, and waits for a
/// post to `news`: the post's state is its status, and zero makes it fail.
@main
enum Sleeper {
    private struct NoCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws {}
        func stop() async {}
    }

    static func main() {
        MainThread.run {
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
}

private enum StandardOutput {
    static func write(_ text: String) throws {
        try OpenFile(owning: dup(STDOUT_FILENO), path: "standard output").writeStream(Array(text.utf8))
    }
}
