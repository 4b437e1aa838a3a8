internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The number of frames for updates: each wakes all clients.
    @Suite("Frames of updates")
    struct UpdatesFramesTests {
        /// The number of requests that arrive together, and their size.
        struct Burst: CustomTestStringConvertible {
            let count: Int
            let valueByteCount: Int
            var isBatched = true

            var testDescription: String {
                "\(count) of \(valueByteCount) bytes" + (isBatched ? "" : ", each told by itself")
            }
        }

        @Test(
            "N3, W1: a hub sends commits that came together in few frames if it batches them, and always whole and in order",
            arguments: [
                Burst(count: 12, valueByteCount: 1), Burst(count: 12, valueByteCount: 10 << 10),
                Burst(count: 50, valueByteCount: 1), Burst(count: 50, valueByteCount: 10 << 10),
                Burst(count: 50, valueByteCount: 1, isBatched: false),
            ])
        func together(burst: Burst) async throws {
            let (count, valueByteCount) = (burst.count, burst.valueByteCount)
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try stage.service(order)
            _ = try await service.start()
            let client = try await stage.client()
            let stream = try await subscription(at: stage.endpoint)
            order.hold()
            let armed = FailPoint.arm(burst.isBatched ? "" : "hub.batch:fail*\(2 * count)")
            defer { armed.disarm() }
            let value = [UInt8](repeating: 1, count: valueByteCount)
            let commits = (0..<count).map { number in
                Task { try await client.put(Key("k/\(number)"), value).revision }
            }
            try await eventually("all wait at the hub") {
                let behind = await service.intake.count
                return order.waitingCount == 1 && behind >= count - 1
            }
            order.letGo()
            var revisions: [Revision] = []
            for commit in commits {
                revisions.append(try await withTimeout(TestTimeout.usual, "a commit ends") { try await commit.value })
            }

            let frames = try await told(on: stream, upTo: try #require(revisions.max()))
            #expect(frames.flatMap(\.self) == revisions.sorted())
            guard burst.isBatched else {
                #expect(frames.count >= count - 1, "\(frames.count) frames for \(count) commits")
                return await end(client, service)
            }
            // A frame contains at most 16 effects and 64 KiB. The first and the last ones may have come separately.
            #expect(frames.allSatisfy { $0.count <= HubService.updatesLimit }, "\(frames.map(\.count)) effects")
            let perFrame = min(HubService.updatesLimit, (64 << 10) / (valueByteCount + 100))
            let limit = 3 + 2 * count / perFrame
            #expect(frames.count <= limit, "\(frames.count) frames for \(count) commits")
            await end(client, service)
        }

        @Test(
            "N3, W1: what follows news too soon for so many clients waits for its turn; what was recorded is told then")
        func paced() async throws {
            let stage = try HubStage()
            let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)
            let service = try stage.service(order)
            _ = try await service.start()
            let client = try await stage.client()
            let stream = try await subscription(at: stage.endpoint)
            await service.keep(UpdatePace(forEach: .seconds(1), least: .zero, most: .seconds(1)))
            let count = 20
            var revisions: [Revision] = []
            for number in 0..<count { revisions.append(try await client.put(Key("k/\(number)"), [1]).revision) }
            let frames = try await told(on: stream, upTo: try #require(revisions.last))
            #expect(frames.flatMap(\.self) == revisions)
            #expect(frames.count <= count / 2, "\(frames.count) frames for \(count) commits")
            await end(client, service)
        }

        @Test(
            "the pace: none for few clients, and no more than 5 ms for many",
            arguments: [(1, 0), (33, 0), (100, 3_000), (5_000, 5_000)])
        func pauses(count: Int, microseconds: Int) {
            #expect(UpdatePace().pause(forClients: count) == .microseconds(microseconds))
        }

        private func end(_ client: ZMQGroup, _ service: HubService) async {
            await client.close()
            await service.stop()
        }

        /// Returns the revisions of each frame, up to a given one.
        private func told(on stream: Socket, upTo last: Revision) async throws -> [[Revision]] {
            var frames: [[Revision]] = []
            try await eventually("all is told") {
                while let message = stream.receive(upTo: 1) {
                    guard case .updates(let updates, _) = try StreamMessage(try #require(message.frames.first)) else {
                        continue
                    }
                    frames.append(updates.effects.compactMap { Updates.revision(of: $0) })
                }
                return frames.last?.last == last
            }
            return frames
        }

        /// A listener that updates reach when this returns.
        private func subscription(at endpoint: HubEndpoint) async throws -> Socket {
            let stream = try Socket(.subscriber, for: endpoint.stream().description)
            let mark = [UInt8](repeating: 5, count: StreamMessage.armedByteCount)
            try stream.set(.subscribe, StreamMessage.updatesTopic)
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

extension HubService {
    fileprivate func keep(_ pace: UpdatePace) { self.pace = pace }
}
