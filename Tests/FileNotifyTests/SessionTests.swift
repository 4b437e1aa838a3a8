internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@Suite("Sessions of processes", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("L2: a process number that was used again is not taken for the process that had it")
    func numberUsedAgain() throws {
        let present = ProcessIdentity.current
        let former = ProcessIdentity(bootID: present.bootID, pid: present.pid, startTime: present.startTime - 1)
        #expect(present.liveness == .alive)
        #expect(former.liveness == .dead)
        let elsewhere = BootID(high: present.bootID.high, low: present.bootID.low ^ 1)
        #expect(
            ProcessIdentity(bootID: elsewhere, pid: present.pid, startTime: present.startTime).liveness == .dead)
    }

    @Test("S12: a process whose session was ended by others is refused, and learns of it")
    func endedByOthers() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let old = try await FileGroup.open(directory: path)
        let recorder = WatchRecorder(try await old.watch())
        try await old.put("held", [1], lifetime: .session)
        let new = try await FileGroup.open(directory: path)
        // As a participant does that believes that the session's process is dead.
        let order = try await FileOrder.open(directory: path, options: FileGroupOptions(), effectByteCount: 0)
        _ = try await order.record(.end(old.session.id))
        #expect(try await new.get("held") == nil)
        let refusals = [
            try await code { try await old.put("key", [1]) },
            try await code { try await old.get("key") },
        ]
        #expect(refusals == [.sessionEnded, .sessionEnded])
        #expect(try await recorder.ended()?.code == .sessionEnded)
        await new.close()
        await old.close()
    }

    @Test("L1, S13: closing in a cancelled task ends the session also when a frozen writer has the lock")
    func closedWhenCancelledAndWaiting() async throws {
        let directory = try TemporaryDirectory()
        let leaving = try await FileGroup.open(directory: directory.path(of: "group"))
        let staying = try await FileGroup.open(directory: directory.path(of: "group"))
        try await leaving.put("held", [1], lifetime: .session)
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("arm commit.beforePublish:stop")
        try peer.send("put key never")
        try await peer.stopped()
        let task = Task { await leaving.close() }
        task.cancel()
        await task.value
        #expect(try await staying.get("held") == nil)
        await staying.close()
    }
}
