internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// The steps of a host in a cgroup that is its own, with real ones. If version 2 has no memory controller, as beside
/// the hierarchies of version 1, another one stands for it: the steps are the same.
@Suite("A cgroup that is the host's own", .serialized)
struct ControlGroupTests {
    private static let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]

    private struct Place {
        let root: String
        let resource: CgroupLimit.Resource

        private var control: String { root + "/cgroup.subtree_control" }

        /// Returns true if the controller is enabled for the children of the root cgroup.
        func isEnabled() throws -> Bool {
            try String(contentsOfFile: control, encoding: .utf8).split(whereSeparator: \.isWhitespace)
                .contains { $0 == resource.controller }
        }

        func enable() throws { try ControlGroupTests.write("+" + resource.controller, to: control) }
        func disable() { try? ControlGroupTests.write("-" + resource.controller, to: control) }

        /// Returns a new cgroup, as the service manager assigns one.
        func makeGroup() throws -> String {
            let path = root + "/sharedcore-test-\(UInt32.random(in: .min ... .max))"
            guard mkdir(path, 0o755) == 0 else { throw FileProblem(path: path, code: errno) }
            do {
                try ControlGroupTests.markAsDelegated(path)
            } catch {
                rmdir(path)
                throw error
            }
            return path
        }

        /// Carries out the steps of the tests once. The permissions of the files are not enough: in a container, its
        /// own root may be writable and still refuse, because it holds processes itself.
        func tryOut() throws {
            let wasEnabled = try isEnabled()
            if !wasEnabled { try enable() }
            defer { if !wasEnabled { disable() } }
            let path = try makeGroup()
            defer { rmdir(path) }
            try ControlGroupTests.write("+" + resource.controller, to: path + "/cgroup.subtree_control")
            let cell = path + "/executor-1"
            guard mkdir(cell, 0o755) == 0 else { throw FileProblem(path: cell, code: errno) }
            defer { rmdir(cell) }
            try ControlGroupTests.write("\(24 << 20)", to: cell + "/" + resource.file)
        }
    }

    /// A place where cgroups can be made, and the resource by which they can be limited.
    private static let place: Place? = {
        let resources = [CgroupLimit.Resource.memory, .init(controller: "hugetlb", file: "hugetlb.2MB.max")]
        for root in roots {
            let words = (try? String(contentsOfFile: root + "/cgroup.controllers", encoding: .utf8)) ?? ""
            let controllers = words.split(whereSeparator: \.isWhitespace)
            for resource in resources where controllers.contains(where: { $0 == resource.controller }) {
                let place = Place(root: root, resource: resource)
                if (try? place.tryOut()) != nil { return place }
            }
        }
        return nil
    }()

    private let path: String
    private let wasEnabled: Bool

    init() throws {
        BrokenPipes.areErrors
        let place = try #require(Self.place)
        wasEnabled = try place.isEnabled()
        if !wasEnabled { try place.enable() }
        path = try place.makeGroup()
    }

    /// As the service manager does. The call is one that Swift's view of the C library leaves out.
    fileprivate static func markAsDelegated(_ path: String) throws {
        typealias SetAttribute =
            @convention(c) (
                UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, Int, Int32
            ) -> Int32
        let set = unsafeBitCast(try #require(dlsym(nil, "setxattr")), to: SetAttribute.self)
        guard set(path, "trusted.delegate", "1", 1, 0) == 0 else { throw FileProblem(path: path, code: errno) }
    }

    fileprivate static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
            throw FileProblem(path: path, code: errno)
        }
    }

    private func cleanUp() {
        for name in TemporaryDirectory.names(in: path) where !name.contains(".") {
            CgroupLimit.Cell(path: path + "/" + name).remove()
        }
        CgroupLimit.Cell(path: path).remove()
        if !wasEnabled { Self.place?.disable() }
    }

    private var cells: [String] { TemporaryDirectory.names(in: path).filter { $0.hasPrefix("executor-") } }

    private static let isPossible: ConditionTrait = .enabled(
        if: place != nil, "no cgroup of version 2 with a limit can be made here, which takes root and a free one")

    @Test(
        "An Executor is in its own cgroup, with its limit, before it does anything, and that is removed with it",
        isPossible)
    func executor() async throws {
        defer { cleanUp() }
        let resource = try #require(Self.place).resource
        let host = try ChildProcess("sleep", ["1000"])
        try Self.write("\(host.pid)", to: path + "/cgroup.procs")
        let cgroupLimit = try #require(CgroupLimit(at: path, process: host.pid, limiting: resource))
        #expect(try String(contentsOfFile: path + "/host/cgroup.procs", encoding: .utf8) == "\(host.pid)\n")

        let limit = UInt64(24 << 20)
        let script = "sed -n 's/^0:://p' /proc/self/cgroup; sleep 1000 & wait"
        let program = ExecutorInvocation(
            path: try ChildProcess.built("sharedcore"),
            arguments: StartGate.arguments(for: ["/bin/sh", "-c", script], as: .executor, leave: STDIN_FILENO),
            variables: [:], isHeld: true)
        let limits = ExecutorLimits(warning: .seconds(10), budget: .seconds(70))
        let executor = try await ExecutorProcess.start(program, limits: limits) { [path] pid in
            let cell = cgroupLimit.enclose(pid, byteCount: limit)
            let text = try? String(contentsOfFile: path + "/executor-1/" + resource.file, encoding: .utf8)
            #expect(text == "\(limit)\n")
            return cell
        }
        let end = try await withTimeout(TestTimeout.long, "the end") { await executor.end() }
        #expect(end.line?.text == "/" + (path.split(separator: "/").last ?? "") + "/executor-1")
        #expect(cells.isEmpty)
    }

    @Test("Removing the cgroup ends all processes in it, including those that have left the process group", isPossible)
    func removed() async throws {
        defer { cleanUp() }
        let cell = CgroupLimit.Cell(path: path + "/executor-1")
        #expect(mkdir(cell.path, 0o755) == 0)
        var children: [ChildProcess] = []
        for _ in 0..<20 {
            let child = try ChildProcess("setsid", ["sleep", "1000"])
            try Self.write("\(child.pid)", to: cell.path + "/cgroup.procs")
            children.append(child)
        }
        cell.remove()
        #expect(cells.isEmpty)
        for child in children {
            #expect(try await withTimeout(TestTimeout.long, "its end") { await child.end() } == .killed(by: SIGKILL))
        }
    }

    @Test("A starting host removes the cgroups that a killed host has left", isPossible)
    func leftByAnother() async throws {
        defer { cleanUp() }
        let left = path + "/executor-1"
        #expect(mkdir(left, 0o755) == 0)
        let orphan = try ChildProcess("sleep", ["1000"])
        try Self.write("\(orphan.pid)", to: left + "/cgroup.procs")
        let host = try ChildProcess("sleep", ["1000"])
        try Self.write("\(host.pid)", to: path + "/cgroup.procs")
        let cgroupLimit = CgroupLimit(at: path, process: host.pid, limiting: try #require(Self.place).resource)
        #expect(cgroupLimit != nil && cells.isEmpty)
        #expect(try await withTimeout(TestTimeout.long, "its end") { await orphan.end() } == .killed(by: SIGKILL))
    }
}
