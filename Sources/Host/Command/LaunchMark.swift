internal import CoreAPI
internal import Platform
internal import SharedCoreConfiguration

/// An environment variable that names the `sharedcore` which has started a process. The process's own children inherit
/// it.
struct LaunchMark: Hashable, Sendable {
    /// What a process was started as.
    enum Role: String, CaseIterable {
        /// An Executor that a host has started.
        case executor = "EXECUTOR_OF"
        /// The command of `exclusive`.
        case command = "COMMAND_OF"

        var variable: String { EnvironmentLayer.prefix + rawValue }
    }

    /// The sharedcore that has started it.
    let parent: ProcessIdentity
    /// The number that the started process had, which is also that of its process group where it leads one.
    let pid: Int32

    /// The mark of this process, which a sharedcore has started.
    ///
    /// - Returns: Nil when the parent is gone.
    init?(startedBy parent: Int32) {
        guard let parent = ProcessIdentity(of: parent) else { return nil }
        self.parent = parent
        pid = ProcessIdentity.current.pid
    }

    var text: String {
        "\(ProcessIdentity.currentNamespace) \(parent.bootID) \(parent.pid) \(parent.startTime) \(pid)"
    }

    /// Reads the mark of a process; nil where it has none or cannot be looked at.
    ///
    /// - Parameter namespace: The namespace in which the numbers of the mark mean something to the caller.
    init?(of process: Int32, as role: Role, in namespace: UInt64 = ProcessIdentity.currentNamespace) {
        let start = Array((role.variable + "=").utf8)
        guard let bytes = try? OpenFile(path: "/proc/\(process)/environ", .read).read(count: 1 << 20, at: 0),
            let line = bytes.split(separator: 0).first(where: { $0.starts(with: start) })
        else { return nil }
        let words = String(decoding: line.dropFirst(start.count), as: UTF8.self).split(separator: " ")
        // Of another run of the machine, or as seen from elsewhere, the numbers mean nothing here.
        guard words.count == 5, words[0] == "\(namespace)",
            words[1] == "\(SystemClock().bootID)", let parent = Int32(words[2]), let startTime = UInt64(words[3]),
            let pid = Int32(words[4])
        else { return nil }
        self.parent = ProcessIdentity(bootID: SystemClock().bootID, pid: parent, startTime: startTime)
        self.pid = pid
    }
}
