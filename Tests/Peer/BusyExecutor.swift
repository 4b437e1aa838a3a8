internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform

/// An Executor with a busy core: `<directory> <id> <call or bound in ms> [<ignoring>]`.
///
/// Its core begins the activity of that id, prints `busy`, and does what is put under the key `busy/<id>`: `end` ends the
/// activity, `eat` takes 128 MiB of memory. It prints `stopped` and why, and ends. With a fourth word it ignores SIGTERM.
enum BusyExecutor {
    static func run(_ words: [String]) async {
        do {
            guard words.count >= 3 else {
                throw SharedCoreError(.invalidArgument, "A directory, an id and a bound are missing.", at: "arguments")
            }
            if words.count > 3 { signal(SIGTERM, SIG_IGN) }
            let kind =
                Int(words[2]).map { Activity.Kind.custom("work", bound: .milliseconds($0)) } ?? .call
            let group = try await FileGroup.open(
                directory: words[0], as: SessionDescription(role: .executor, name: "busy \(words[1])"))
            let end = AsyncStream.makeStream(of: Void.self)
            // Long, because the test concerns the host's budgets alone.
            let executor = try ExecutorParticipant(
                of: group, options: CoordinationOptions(executorBudget: .seconds(3600))
            ) {
                BusyCore(kind: kind, id: words[1], onStop: { end.continuation.finish() })
            }
            try await executor.start()
            for await _ in end.stream {}
            await executor.close()
            await group.close()
        } catch {
            say("failed \(error)")
        }
    }

    fileprivate static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

private struct BusyCore: Core {
    let kind: Activity.Kind
    let id: String
    let onStop: @Sendable () -> Void

    func start(in context: CoreContext) async throws {
        _ = try await context.begin(kind, id: id)
        BusyExecutor.say("busy")
    }

    func iterate(in context: CoreContext) async throws {
        let orders = try Key("busy/" + id)
        let watch = try await context.store.watch([KeyPrefix(orders)], from: .snapshot)
        var food: [[UInt8]] = []
        while try await watch.next() != nil {
            switch try await context.store.get(orders).map({ String(decoding: $0.value, as: UTF8.self) }) {
            case "end": try await context.begin(kind, id: id).end()
            case "eat": food.append([UInt8](repeating: 1, count: 128 << 20))
            default: break
            }
        }
        // Held until here.
        food = []
    }

    func stop() async { onStop() }

    func stop(_ request: StopRequest) async {
        BusyExecutor.say("stopped \(request.reason)")
        onStop()
    }
}
