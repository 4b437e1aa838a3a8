package import Coordination
internal import CoreAPI
internal import Platform

/// The core whose hand-over is measured: it takes a while to start, hands over all messages of its server, a directory
/// with a file for each, and stops at once.
package struct BenchCore: Core {
    private let server: String?
    private let startDelay: Duration

    package init(server: String? = nil, startDelay: Duration = .zero) {
        self.server = server
        self.startDelay = startDelay
    }

    package func start(in context: CoreContext) async throws {
        if startDelay > .zero { try await Task.sleep(for: startDelay) }
    }

    package func iterate(in context: CoreContext) async throws {
        if let server {
            for name in try Directory(path: server).names() {
                guard let callID = CallID(name) else { continue }
                let text = String(
                    decoding: try OpenFile(path: server + "/" + name, .read).read(count: 4096, at: 0), as: UTF8.self)
                try await context.deliver(
                    InboxMessage(callID: callID, content: .text(from: "bench", to: "bench", text: text)))
            }
        }
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    package func stop() async {}
}
