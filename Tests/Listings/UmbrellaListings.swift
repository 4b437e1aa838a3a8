internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import SharedCore

struct Greeting: Service {
    let directory: String
    let logger: Logger

    func run() async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .main))
        let watch = try await group.watch("greeting")
        for try await event in watch.cancelOnGracefulShutdown() {
            if case .changes(let set) = event { logger.info("\(Date.now): revision \(set.revision)") }
        }
        await group.close()
    }
}
