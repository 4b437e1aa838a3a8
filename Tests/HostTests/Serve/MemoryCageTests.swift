internal import FoundationEssentials
internal import TestSupport
internal import Testing

@testable internal import sharedcore

/// Where the kernel limits memory it takes a service manager that delegates; here is what must be left alone.
@Suite("A cgroup that is not the host's to use")
struct MemoryCageTests {
    private func cage(controllers: String?, processes: String?) throws -> (MemoryCage?, [String]) {
        let directory = try TemporaryDirectory()
        let files = ["cgroup.controllers": controllers, "cgroup.procs": processes, "cgroup.subtree_control": ""]
        for (name, text) in files {
            guard let text else { continue }
            try Data(text.utf8).write(to: URL(filePath: directory.path(of: name)))
        }
        return (MemoryCage(at: directory.path, process: 7), directory.names)
    }

    @Test(
        "Without the memory controller, or with others in it, it is not used and nothing is changed",
        arguments: [("cpu io", "7\n"), ("", "7\n"), (nil, "7\n"), ("cpu memory", "7\n8\n"), ("memory", nil)]
            as [(String?, String?)])
    func leftAlone(controllers: String?, processes: String?) throws {
        let (cage, names) = try cage(controllers: controllers, processes: processes)
        #expect(cage == nil)
        #expect(names.allSatisfy { $0.hasPrefix("cgroup.") })
    }
}
