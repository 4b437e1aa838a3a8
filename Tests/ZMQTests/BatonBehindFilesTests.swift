internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable import ZMQBackend

extension ZMQTests {
    /// A hub that does not know of a commit yet, which a participant made directly in the files (contract C25).
    @Suite("C25: a hub that is behind the files")
    struct BatonBehindFilesTests {
        private static let bytes: [UInt8] = [7, 0, 255]

        /// The commit that owns in place of the present owner, and offers the baton of an epoch.
        private static func owning(offering epoch: Revision? = nil) -> Transaction {
            var transaction = Transaction()
            transaction.delete(OwnershipKey.owner)
            transaction.put(OwnershipKey.owner, [1], lifetime: .session)
            guard let epoch else { return transaction }
            // The beginning that all versions of the record have.
            var writer = ByteWriter()
            writer.byte(1)
            writer.integer(epoch.rawValue)
            writer.byte(1)
            transaction.put(OwnershipKey.baton, writer.bytes)
            return transaction
        }

        /// Makes a process own through the files, and stops it between its commit and its signals, so that the hub does
        /// not learn of the commit.
        private func ownAtTheFiles(of stage: HubStage) async throws -> Peer {
            let peer = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
            _ = try await peer.answer()
            try await peer.tell("open \(stage.files)")
            try await peer.tell("arm ring.before:stop")
            try peer.send("hold \(OwnershipKey.owner) x")
            try await eventually("it is stopped") { peer.process.isStopped }
            return peer
        }

        @Test("C25: the hub reads the group before it keeps a baton: one that is superseded at the files is refused")
        func keep() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let epoch = try await client.commit(Self.owning()).revision
            let peer = try await ownAtTheFiles(of: stage)
            let refused = await #expect(throws: SharedCoreError.self) {
                try await client.keepBaton(Self.bytes, of: epoch, for: .seconds(60))
            }
            #expect(refused?.code == .guardFailed)
            await client.close()
            await peer.process.killNow()
            await hub.stop()
        }

        @Test("C25: the hub reads the group before it sends a baton: one that is superseded at the files gets none")
        func fetch() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let (old, new) = (try await stage.client(), try await stage.client())
            let epoch = try await old.commit(Self.owning()).revision
            try await old.keepBaton(Self.bytes, of: epoch, for: .seconds(60))
            let next = try await new.commit(Self.owning(offering: epoch)).revision
            #expect(try await new.fetchBaton(of: epoch, under: next) == Self.bytes)
            let peer = try await ownAtTheFiles(of: stage)
            let refused = await #expect(throws: SharedCoreError.self) {
                _ = try await new.fetchBaton(of: epoch, under: next)
            }
            #expect(refused?.code == .guardFailed)
            for client in [old, new] { await client.close() }
            await peer.process.killNow()
            await hub.stop()
        }
    }
}
