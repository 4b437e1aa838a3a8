internal import CoreAPI
internal import Platform

/// The way in which this process learns of a commit to a group.
package enum WakeUpSource: Hashable, Sendable {
    /// By watching the files of the wake channels; if the system refuses a watch, by futex signals.
    case wakeChannels
    /// By sleeping at a futex word of the group's page.
    case signals
    /// By polling, for a handle that must write nothing, not even its interest.
    case looks

    /// The condition under which a file system is tested before its reports of writes are relied on.
    package enum Trial: Hashable, Sendable {
        /// Unless it is known to report every write.
        case unlessKnown
        case always
        /// No test: the file system counts as one that reports no writes. For tests.
        case silent
    }

    /// Finds the method by which a group in this directory can be woken.
    ///
    /// - Throws: `unsupported` if on its file system processes can neither watch files nor share memory.
    init(in directory: Directory, _ trial: Trial) throws(SharedCoreError) {
        self = try SharedCoreError.wrapping { () throws(SystemCallError) in
            switch trial {
            case .silent:
                return .signals
            case .unlessKnown where try directory.fileSystemKind().reportsWrites:
                return .wakeChannels
            case .unlessKnown, .always:
                return try Self.tryOut(directory) ? .wakeChannels : .signals
            }
        }
    }

    /// The time that a report of a write may take. The file systems that report writes do so within the write.
    private static let reportLimit = Duration.milliseconds(100)

    /// Returns whether the file system reports a write to a file of the directory. Throws unless processes can share
    /// memory on it, which the commit protocol requires in any case.
    private static func tryOut(_ directory: Directory) throws(SystemCallError) -> Bool {
        let name = "trial." + String(UInt64.random(in: 0...UInt64.max), radix: 16) + JournalBuilder.nameEnding
        let written = try OpenFile(name, in: directory, .createNew)
        defer { _ = try? directory.remove(name) }
        // Locked, so that no process removes it as the file of a killed process.
        _ = try written.tryLock(byteAt: Journal.lockByte)
        try written.allocate(0..<MappedPage.byteCount)
        let other = try OpenFile(name, in: directory, .write)
        let page = try MappedPage(of: written)
        let otherPage = try MappedPage(of: other)
        page.store(1, at: 0)
        guard otherPage.load(at: 0) == 1, otherPage.canSleep(at: 0) else {
            throw SystemCallError("mmap", number: SystemCallError.Number.notSupported, at: directory.path)
        }
        guard let events = try? FileEvents(), (try? events.watchWrites(to: other)) != nil else {
            // The system has no watch left, which does not depend on the file system, so count it as one that reports
            // writes; each wake channel is tried again later.
            return true
        }
        try written.write([1], at: 0)
        let isReported = Poll.wait(for: [events.descriptor], timeout: reportLimit)[0] && !events.take().isEmpty
        return isReported && !FailPoint.fails("trial.report")
    }
}
