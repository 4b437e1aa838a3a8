import Coordination
import CoreAPI
import CoreAPITesting
import Glibc
import Platform
import TestSupport
import Testing

/// Killing real processes.
@Suite(.serialized)
struct LocalProcessControlTests {
    @Test("C3: exactly the process that was meant is killed")
    func killsTheProcess() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))

        let outcome = await LocalProcessControl().kill(identity) { nil }

        #expect(outcome == .signalled)
        #expect(await child.end() == .killed(by: SIGKILL))
        let again = await LocalProcessControl().kill(identity) { nil }
        #expect(again == .gone)
    }

    @Test("C3, L2: a process id that means another process by now is left alone")
    func leavesAnotherProcessAlone() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        let earlier = ProcessIdentity(
            bootID: identity.bootID, pid: child.pid, startTime: identity.startTime - 1)
        let otherBoot = ProcessIdentity(
            bootID: BootID(high: 1, low: 1), pid: child.pid, startTime: identity.startTime)

        for other in [earlier, otherBoot] {
            let outcome = await LocalProcessControl().kill(other) { nil }
            #expect(outcome == .gone)
        }
        let doubted = await LocalProcessControl().kill(identity) { "it may be another" }
        #expect(doubted == .impossible("it may be another"))

        // Only a live process can be stopped.
        child.signal(.stop)
        try await eventually("it stands still") { child.isStopped }
        #expect(child.ended == nil)
    }

    @Test(
        "C3: a process of another user is left alone",
        .enabled(if: getuid() == 0, "needs root to act as another user"))
    func leavesOtherUsersAlone() async throws {
        let child = try ChildProcess(
            "/usr/bin/setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep", "600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        try await eventually("it is another user's") {
            let handle = try ProcessHandle(identity)
            return handle.user == 65_534
        }

        let outcome = await LocalProcessControl().kill(identity) { nil }

        #expect(outcome == .impossible("its process is user 65534's"))
        child.signal(.stop)
        try await eventually("it stands still") { child.isStopped }
    }

    @Test(
        "C3: the user on whose behalf a process runs counts, not the rights that its program's file gave it",
        .enabled(if: getuid() == 0, "needs root to act as another user"),
        arguments: [("--ruid", false), ("--euid", true)])
    func goesByTheRealUser(option: String, isKilled: Bool) async throws {
        let child = try ChildProcess("/usr/bin/setpriv", [option, "65534", "sleep", "600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        try await eventually("it sleeps") { childName(of: child.pid) == "sleep" }

        let outcome = await LocalProcessControl().kill(identity) { nil }

        #expect(outcome == (isKilled ? .signalled : .impossible("its process is user 65534's")))
        if isKilled { #expect(await child.end() == .killed(by: SIGKILL)) }
    }

    private func childName(of pid: Int32) -> String {
        let name = try? OpenFile(path: "/proc/\(pid)/comm", .read).read(count: 64, at: 0)
        return String(decoding: (name ?? []).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    @Test("C15: a process runs nothing any more when it was killed, also before it has been waited for")
    func seesTheEnd() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        let anyStart = ProcessIdentity(bootID: identity.bootID, pid: child.pid, startTime: 0)
        let otherBoot = ProcessIdentity(bootID: BootID(high: 1, low: 1), pid: child.pid, startTime: 0)
        let control = LocalProcessControl()

        #expect(await !control.isExiting(identity))
        #expect(await !control.isExiting(anyStart))
        #expect(await !control.isExiting(.current))
        #expect(await control.isExiting(otherBoot))

        child.signal(.kill)
        try await eventually("it runs nothing") { await control.isExiting(anyStart) }
        #expect(await child.end() == .killed(by: SIGKILL))
        #expect(await control.isExiting(identity))
    }
    #if FAIL_POINTS
        @Test(
            "C15: a process that is reaped during its inspection counts as ended; one that cannot be inspected may still run",
            arguments: [
                ("open", ENOENT, true), ("readdir", ENOENT, true), ("readdir", ESRCH, true), ("open", EMFILE, false),
            ])
        func reapedBetweenLooks(call: String, number: Int32, isExiting: Bool) async throws {
            let child = try ChildProcess("/bin/sleep", ["600"])
            let identity = try #require(ProcessIdentity(of: child.pid))
            // The answer of the system where the process has gone since its record was read.
            let place = "\(call)/proc/\(child.pid)/task"
            let armed = FailPoint.arm("\(place):fail=\(number)")
            defer { armed.disarm() }

            #expect(await LocalProcessControl().isExiting(identity) == isExiting)
            #expect(FailPoint.strikeCount(of: place) == 1)
            #expect(await !LocalProcessControl().isExiting(identity))
        }
    #endif
}
