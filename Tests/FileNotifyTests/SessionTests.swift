internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("Sessions of processes", .timeLimit(.minutes(5)))
struct SessionTests {
    /// How a holder ends.
    enum End: String, CaseIterable, CustomTestStringConvertible {
        case killed, killedAndNotWaitedFor, killedWithAChildLeft, closed

        var testDescription: String { rawValue }
    }

    @Test("L1, L3: a holder's end frees what it held, and its watchers hear of it at once", arguments: End.allCases)
    func endFreesAtOnce(end: End) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch("owner"), of: ["owner"])
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("hold owner/a peer")
        try await peer.tell("hold owner/b peer")
        try await eventually("the watch sees the holder") { recorder.mirror.entries.count == 2 }

        var child: Int32?
        switch end {
        case .killed: peer.killNow()
        case .killedAndNotWaitedFor: peer.signal(SIGKILL)
        case .killedWithAChildLeft:
            child = Int32(try await peer.tell("child"))
            peer.killNow()
        case .closed: try await peer.tell("close")
        }
        defer { if let child { kill(child, SIGKILL) } }
        // Well below the interval at which everybody looks without having heard anything.
        try await eventually("what it held is gone", within: .seconds(6)) { recorder.mirror.entries.isEmpty }
        let kinds = recorder.mirror.changes.filter { $0.new == nil }.map(\.kind)
        #expect(kinds == [.sessionEnded, .sessionEnded])
        #expect(recorder.mirror.changedRevisions.count == 3, "both went in one revision")
        #expect(try await group.sessions().map(\.id) == [group.session.id])
        try await recorder.stop()
        await group.close()
    }

    @Test(
        "L3: a newcomer never believes a dead owner, also when nobody was there to see its end",
        arguments: End.allCases)
    func newcomerDoesNotBelieve(end: End) async throws {
        let directory = try TemporaryDirectory()
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("hold owner peer")
        var child: Int32?
        switch end {
        case .killed: peer.killNow()
        case .killedAndNotWaitedFor:
            peer.signal(SIGKILL)
            try await eventually("it is a zombie") { ProcessIdentity(of: peer.pid)?.liveness == .dead }
        case .killedWithAChildLeft:
            child = Int32(try await peer.tell("child"))
            peer.killNow()
        case .closed: try await peer.tell("close")
        }
        defer { if let child { kill(child, SIGKILL) } }
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        #expect(try await group.get("owner") == nil)
        #expect(try await group.sessions().map(\.id) == [group.session.id])
        await group.close()
    }

    @Test("L1: a stopped process is not dead")
    func stoppedIsAlive() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("hold owner peer")
        peer.signal(SIGSTOP)
        try await peer.stopped()
        #expect(try await group.sessions().count == 2)
        #expect(try await group.text("owner") == "peer")
        peer.signal(SIGCONT)
        await group.close()
    }

    @Test("L1: letting go of a handle ends its session")
    func letGo() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        var other: FileGroup? = try await FileGroup.open(directory: directory.path(of: "group"))
        try await other?.put("owner", [1], lifetime: .session)
        #expect(try await group.sessions().count == 2)
        other = nil
        try await eventually("the session is over") { try await group.sessions().count == 1 }
        #expect(try await group.get("owner") == nil)
        await group.close()
    }

    @Test("L2: a session says which process it is of")
    func identity() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(
            directory: directory.path(of: "group"), as: SessionDescription(role: .main, name: "m"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        let sessions = try await group.sessions()
        #expect(sessions.first?.process == .current)
        #expect(sessions.map(\.process.pid) == [getpid(), peer.pid])
        #expect(sessions.map(\.role) == [.main, .executor])
        await group.close()
    }

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
        let clock = ManualClock()
        var options = FileGroupOptions()
        options.clock = clock
        let old = try await FileGroup.open(directory: directory.path(of: "group"), options: options)
        let recorder = WatchRecorder(try await old.watch())
        try await old.put("held", [1], lifetime: .session)
        clock.reboot()
        let new = try await FileGroup.open(directory: directory.path(of: "group"), options: options)
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

    @Test("L1, S13, E1: closing in a cancelled task ends the session for everybody", arguments: Backend.all)
    func closedWhenCancelled(backend: Backend) async throws {
        try await backend.withGroup { group in
            let leaving = try await group.open()
            let staying = try await group.open()
            try await leaving.put("held", [1], lifetime: .session)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await leaving.close()
            }
            await task.value
            // A read looks at no participant's process, so the end is in the order or is not seen.
            #expect(try await staying.get("held") == nil)
            #expect(try await code { try await leaving.get("held") } == .closed)
        }
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

    @Test("L1: where the system does not show its processes, a session lives as long as its byte is held")
    func withoutProcesses() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let script = "mount -t tmpfs none /proc && exec \"$0\""
        let unshare = geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]
        let holder = try await PeerProcess.joining(path, through: unshare + ["sh", "-c", script])
        try await holder.tell("hold owner holder")
        let other = try await PeerProcess.joining(path, through: unshare + ["sh", "-c", script])
        #expect(try await other.tell("sessions").split(separator: " ").count == 2)
        #expect(try await other.tell("get owner") == "value holder")
        holder.killNow()
        #expect(try await other.tell("sessions").split(separator: " ").count == 1)
        #expect(try await other.tell("get owner") == "nothing")
    }
}
