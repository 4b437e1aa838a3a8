internal import FoundationEssentials
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// The kernel limits memory only under a service manager that delegates; here is the cgroup that must be left alone.
@Suite("A cgroup that is not the host's to use")
struct CgroupLimitTests {
    private func cgroupLimit(controllers: String?, processes: String?) throws -> (CgroupLimit?, [String]) {
        let directory = try TemporaryDirectory()
        let files = ["cgroup.controllers": controllers, "cgroup.procs": processes, "cgroup.subtree_control": ""]
        for (name, text) in files {
            guard let text else { continue }
            try Data(text.utf8).write(to: URL(filePath: directory.path(of: name)))
        }
        return (CgroupLimit(at: directory.path, process: 7), directory.names)
    }

    @Test(
        "Without the memory controller, or with others in it, it is not used and nothing is changed",
        arguments: [("cpu io", "7\n"), ("", "7\n"), (nil, "7\n"), ("cpu memory", "7\n8\n"), ("memory", nil)]
            as [(String?, String?)])
    func leftAlone(controllers: String?, processes: String?) throws {
        let (cgroupLimit, names) = try cgroupLimit(controllers: controllers, processes: processes)
        #expect(cgroupLimit == nil)
        #expect(names.allSatisfy { $0.hasPrefix("cgroup.") })
    }

    /// The text of `memory.events` of a kernel of version 6.
    private func events(killed: String) -> String {
        "low 0\nhigh 0\nmax 12\noom 1\noom_kill \(killed)\noom_group_kill 1\n"
    }

    @Test("Only the cgroup's events tell that the kernel has killed for want of memory")
    func kills() throws {
        let directory = try TemporaryDirectory()
        let cell = CgroupLimit.Cell(path: directory.path)
        #expect(!cell.hasKilled())
        for (killed, expected) in [("0", false), ("1", true), ("17", true)] {
            try Data(events(killed: killed).utf8).write(to: URL(filePath: directory.path(of: "memory.events")))
            #expect(cell.hasKilled() == expected)
        }
    }
}
