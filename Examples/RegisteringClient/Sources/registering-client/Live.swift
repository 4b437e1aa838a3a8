internal import Foundation
internal import Lifecycle
internal import NetworkMonitor
internal import TelephoneServer
internal import Telephony

/// A telephone in the network of this machine: pull the cable and see. Its server is in the same process; it ends with its
/// standard input.
enum Live {
    static func run() async throws {
        let server = try TelephoneServer()
        let group = try await OwnGroup()
        let monitor = try await NetworkMonitor.open()
        let states = monitor.states
        let network = Task { for await state in states { say("\(state)") } }
        let life = try await TelephoneLife(
            user: "zoe", server: ServerAddress(host: server.host, port: server.port), sharing: group.main,
            network: monitor.states
        ) { say($0.line) }
        for await line in lines() {
            // One thing after another; what the network does comes in between as it likes.
            await life.runner.settle()
            switch line {
            case "background": await life.telephone.bring(to: .background)
            case "foreground": await life.telephone.bring(to: .foreground)
            case "sleep": await life.telephone.bring(to: .suspended)
            default: try? server.send(text: line)
            }
        }
        await life.close()
        monitor.close()
        await network.value
    }

    /// The typed lines, read on a thread of its own, since reading waits.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    /// A line at once, also into a pipe.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
