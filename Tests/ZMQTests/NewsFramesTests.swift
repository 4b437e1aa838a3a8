internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// How many frames news takes: each wakes everybody.
    @Suite("Frames of news")
    struct NewsFramesTests {
        @Test("N3, W1: what was recorded for requests that came together is told in few frames, whole and in its order")
        func together() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [stage.endpoint]))
            _ = try await service.start()
            let client = try await stage.client()
            let stream = try await subscription(at: stage.endpoint)
            order.hold()
            let count = 12
            let commits = (0..<count).map { number in
                Task { try await client.put(Key("k/\(number)"), [1]).revision }
            }
            try await eventually("all wait at the hub") {
                let behind = await service.intake.count
                return order.waitingCount == 1 && behind >= count - 1
            }
            order.letGo()
            var revisions: [Revision] = []
            for commit in commits {
                revisions.append(try await within(Patience.usual, "a commit ends") { try await commit.value })
            }

            var frames: [News] = []
            let last = try #require(revisions.max())
            try await eventually("all is told") {
                while let message = stream.receive(upTo: 1) {
                    guard case .news(let news, _) = try StreamMessage(try #require(message.frames.first)) else { continue }
                    frames.append(news)
                }
                return frames.last?.effects.last.flatMap { News.revision(of: $0) } == last
            }
            let told = frames.flatMap(\.effects).compactMap { News.revision(of: $0) }
            #expect(told == revisions.sorted())
            #expect(frames.count <= 3, "\(frames.count) frames for \(count) commits")
            await client.close()
            await service.stop()
        }

        /// A listener, whom news reaches when this returns.
        private func subscription(at endpoint: HubEndpoint) async throws -> Socket {
            let stream = try Socket(.subscriber, for: endpoint.stream().description)
            let mark = [UInt8](repeating: 5, count: StreamMessage.armedByteCount)
            try stream.set(.subscribe, [StreamMessage.newsTopic])
            try stream.set(.subscribe, [StreamMessage.armedTopic] + mark)
            try stream.connect()
            try await eventually("the stream is heard") {
                while let message = stream.receive(upTo: 1) {
                    if message.frames.first == StreamMessage.armed(mark).bytes { return true }
                }
                return false
            }
            return stream
        }
    }
}
