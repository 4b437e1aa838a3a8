internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform

/// The part of a host that keeps batons: `<directory>`. It ends with the order `close`.
enum BatonHostProgram {
    static func run(_ words: [String]) async {
        do {
            guard words.count == 1 else { throw SharedCoreError(.invalidArgument, "One argument.", at: "arguments") }
            let group = try await FileGroup.open(
                directory: words[0], as: SessionDescription(role: .tool, name: "host"))
            let host = try BatonHost(of: group, clock: SystemClock())
            let watch = try await group.watch([OwnershipKey.path], from: .snapshot)
            let following = Task {
                var view = OwnershipView()
                while let event = try await watch.next() {
                    view.apply(event, at: SystemClock().now())
                    host.see(view)
                }
            }
            try await host.start()
            CallProgram.say("keeps")
            let orders = AwaitedInputLines()
            while let order = await orders.next(), order != "close" {}
            watch.cancel()
            following.cancel()
            host.stop()
            await group.close()
            CallProgram.say("closed")
        } catch {
            CallProgram.say("failed \(error)")
        }
    }
}
