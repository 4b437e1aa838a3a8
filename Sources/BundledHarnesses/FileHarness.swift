package import CoreAPI
package import CoreAPITesting
internal import FileNotifyBackend
internal import Platform

/// Runs the cases on groups in files, each in its own directory.
package struct FileHarness: ConformanceHarness {
    package let name: String
    package let peer: PeerProgram?
    private let durability: Durability
    private let parent: String

    /// Makes a harness on files with one durability.
    ///
    /// - Parameters:
    ///   - parent: The directory in which each group gets one of its own; it must exist.
    ///   - peer: The program that acts as a second process.
    package init(durability: Durability, in parent: String, peer: PeerProgram?) {
        self.name = durability == .disk ? "file, on disk" : "file"
        self.durability = durability
        self.parent = parent
        self.peer = peer
    }

    package var failPoints: FailPointSet {
        #if FAIL_POINTS
            FailPointSet(
                beforePublication: [
                    "commit.afterLock", "commit.afterCatchUp", "commit.halfRecord", "commit.beforePublish",
                ],
                afterPublication: [
                    "commit.afterPublish", "commit.beforeUnlock", "commit.beforeRing", "ring.before", "ring.after",
                ])
        #else
            FailPointSet()
        #endif
    }

    package var commitCost: CommitCost { durability == .disk ? .high : .low }

    package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        let name = "conformance-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return FileTestGroup(
            path: parent + "/" + name, durability: durability, settings: settings)
    }
}

/// One group in a directory of its own.
private struct FileTestGroup: ConformanceGroup {
    let path: String
    let durability: Durability
    let settings: GroupSettings

    var address: String { durability == .disk ? path + " disk" : path }
    var directory: String? { path }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.open(directory: path, as: description, options: options(requiring: requirements))
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await FileGroup.openToRead(directory: path, as: description, options: options(requiring: .none))
    }

    private func options(requiring requirements: Requirements) -> FileGroupOptions {
        FileGroupOptions(
            durability: durability, limits: settings.limits ?? Limits(),
            historyByteCount: settings.historyByteCount ?? 1 << 20, requirements: requirements,
            clock: settings.clock ?? SystemClock())
    }

    func remove() async {
        // A group that could not be removed is harmless: each has its own name.
        Directory.removeWithFiles(path: path)
    }
}
