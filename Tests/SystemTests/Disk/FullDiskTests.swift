internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// The group lies in a small file system in memory that only the test's own processes see: the mount namespace of the
/// first one.
@Suite("Coordination on a full disk", .serialized, .timeLimit(.minutes(10)))
struct FullDiskTests {
    private let post: Post
    private let peer: Peer
    private let enter: [String]

    init() async throws {
        let post = try Post(startMilliseconds: 0)
        let isRoot = geteuid() == 0
        let unshare = isRoot ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]
        let script = "mount -t tmpfs -o size=1m,mode=700 none '\(post.directory.path)/groups' && exec \"$0\""
        let peer = try Peer(
            PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")), through: unshare + ["sh", "-c", script])
        _ = try await peer.answer()
        try await peer.tell("open \(post.group)")
        self.post = post
        self.peer = peer
        enter =
            ["nsenter", "--target", "\(peer.pid)", "--mount"] + (isRoot ? [] : ["--user", "--preserve-credentials"])
    }

    private func fillDisk() async throws {
        #expect(try await peer.tell("fillUp 3000").hasPrefix("storageFull"))
        #expect(try await peer.tell("fillUp 1").hasPrefix("storageFull"), "down to the last byte")
    }

    @Test("S10, C3: an Executor that owns hands over to Main on a full disk, and SIGTERM ends both")
    func handsOver() async throws {
        let executor = try post.push("call-1", through: enter)
        try await peer.tell("await .sharedcore/ownership/owner")
        try await fillDisk()

        let main = try post.startMain(through: enter)

        try await eventually("Main owns", timeout: TestTimeout.long) {
            main.lines.contains { $0.contains(#""event":"owning""#) } || main.ended != nil
        }
        #expect(main.ended == nil, "\(main.lines)")
        #expect(executor.ended == nil, "nobody was killed")
        main.signal(.terminate)
        #expect(try await withTimeout(TestTimeout.long, "Main ends") { await main.end() } == .exited(0))
        executor.signal(.terminate)
        #expect(try await withTimeout(TestTimeout.long, "the Executor ends") { await executor.end() } == .exited(1))
        #expect(try post.misunderstandings() == [])
    }

    @Test("S10, C6: a frozen Executor is killed and a frozen Main fenced on a full disk")
    func supersedes() async throws {
        let executor = try post.push("call-1", through: enter)
        try await peer.tell("await .sharedcore/ownership/owner")
        try await fillDisk()
        executor.signal(.stop)
        let main = try post.startMain(through: enter)
        try await eventually("Main owns", timeout: TestTimeout.long) {
            main.lines.contains { $0.contains(#""event":"owning""#) } || main.ended != nil
        }
        #expect(main.ended == nil, "\(main.lines)")
        #expect(await executor.end() == .killed(by: SIGKILL))

        main.signal(.stop)
        let next = try post.push("call-2", through: enter)
        try post.deliver("call-3")
        try await eventually("the next Executor owns", timeout: TestTimeout.long) {
            try await peer.tell("get .sharedcore/ownership/owner").contains("executor")
        }
        main.signal(.continue)
        next.signal(.terminate)
        #expect(try await withTimeout(TestTimeout.long, "the Executor ends") { await next.end() } == .exited(1))
        main.signal(.terminate)
        #expect(try await withTimeout(TestTimeout.long, "Main ends") { await main.end() } == .exited(0))
        #expect(try post.misunderstandings() == [])
    }

    @Test("S10, C6: while the disk stays full, one Executor after the other owns, and endings have room beyond that")
    func staysFull() async throws {
        try await fillDisk()
        for number in 1...10 {
            let executor = try post.push("call-\(number)", through: enter)
            _ = try await withTimeout(TestTimeout.long, "Executor \(number) owns") { [peer] in
                try await peer.tell("await .sharedcore/ownership/owner")
            }
            executor.signal(.terminate)
            #expect(try await withTimeout(TestTimeout.long, "the Executor ends") { await executor.end() } == .exited(1))
            #expect(try await peer.tell("get .sharedcore/ownership/owner") == "nothing", "\(number)")
        }
        let last = try post.push("call", through: enter)
        try await peer.tell("await .sharedcore/ownership/owner")
        // More than years of ownership leave on the timeline, whether or not there is room for all of it.
        try peer.send("fill .sharedcore/timeline/x 2000 64")
        _ = try await peer.answer()
        last.signal(.kill)
        #expect(await last.end() == .killed(by: SIGKILL))
        let newcomer = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")), through: enter)
        _ = try await newcomer.answer()
        try await newcomer.tell("open \(post.group)")
        #expect(try await newcomer.tell("get .sharedcore/ownership/owner") == "nothing")
    }
}
