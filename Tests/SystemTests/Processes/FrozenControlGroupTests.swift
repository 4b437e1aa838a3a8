internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// A process that the kernel's freezer holds takes no signal either: in the first version of cgroups SIGKILL waits for its thaw.
@Suite("C6: owners in a frozen cgroup", .serialized, .timeLimit(.minutes(10)))
struct FrozenControlGroupTests {
    /// A cgroup in the hierarchy of the freezer, or in the one of all controllers.
    private struct Cell {
        let path: String
        let isFirstVersion: Bool

        static func make() -> Cell? {
            for (root, isFirstVersion) in [("/sys/fs/cgroup/freezer", true), ("/sys/fs/cgroup", false)] {
                let path = root + "/sharedcore-test-\(UInt32.random(in: .min ... .max))"
                guard mkdir(path, 0o755) == 0 else { continue }
                let cell = Cell(path: path, isFirstVersion: isFirstVersion)
                if access(path + "/" + cell.state, W_OK) == 0 { return cell }
                rmdir(path)
            }
            return nil
        }

        var state: String { isFirstVersion ? "freezer.state" : "cgroup.freeze" }

        func write(_ text: String, to name: String) throws {
            try OpenFile(path: path + "/" + name, .write).write(Array(text.utf8), at: 0)
        }

        func freeze() throws { try write(isFirstVersion ? "FROZEN" : "1", to: state) }
        func thaw() throws { try write(isFirstVersion ? "THAWED" : "0", to: state) }
        func remove() { rmdir(path) }
    }

    private static let isPossible: Bool = {
        guard let cell = Cell.make() else { return false }
        cell.remove()
        return true
    }()

    @Test(
        "An Executor that is frozen with its cgroup holds up no Main, and is gone when it is thawed",
        .enabled(if: isPossible, "there is no cgroup to freeze here"))
    func executor() async throws {
        let post = try Post(startMilliseconds: 0)
        let cell = try #require(Cell.make())
        defer { cell.remove() }
        let executor = try post.push("call-1")
        let group = try await post.open()
        try await eventually("the Executor owns") { try await group.get(".sharedcore/ownership/owner") != nil }
        try cell.write("\(executor.pid)", to: "cgroup.procs")
        try cell.freeze()
        defer { try? cell.thaw() }

        let main = try post.startMain()
        try await eventually("Main owns", timeout: TestTimeout.long) {
            main.lines.contains { $0.contains(#""event":"owning""#) } || main.ended != nil
        }
        #expect(main.ended == nil, "\(main.lines)")
        // The former session of the process does not come back with it.
        try cell.thaw()
        #expect(
            try await withTimeout(TestTimeout.long, "the Executor ends") { await executor.end() }
                == .killed(by: SIGKILL))
        #expect(main.ended == nil)
        main.signal(.terminate)
        #expect(try await withTimeout(TestTimeout.long, "Main ends") { await main.end() } == .exited(0))
        await group.close()
    }
}
