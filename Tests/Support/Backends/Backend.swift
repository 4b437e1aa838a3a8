package import CoreAPI
package import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform

/// A backend under test. A suite that takes it as its argument runs over all of them:
///
/// ```swift
/// @Test("S1: ...", arguments: Backend.all)
/// func absentIsNil(backend: Backend) async throws {
///     try await backend.withGroup { group in
///         let store = try await group.open()
///         #expect(try await store.get("k") == nil)
///     }
/// }
/// ```
package struct Backend: Sendable, CustomStringConvertible {
    /// What a group under test is made with.
    package struct Settings: Sendable {
        /// The clock of the group; nil for the machine's own.
        package var clock: ManualClock?
        /// The sizes that it accepts.
        package var limits: Limits
        /// The bytes of changes that it keeps for watches.
        package var historyByteCount: Int

        package init(
            clock: ManualClock? = nil, limits: Limits = Limits(), historyByteCount: Int = 1 << 20
        ) {
            self.clock = clock
            self.limits = limits
            self.historyByteCount = historyByteCount
        }
    }

    /// The backend's name.
    package let name: String

    private let make: @Sendable (Settings) throws -> TestGroup

    package var description: String { name }

    /// Every backend of the package.
    package static let all: [Backend] = [.memory, .files]

    /// The backends whose commits survive a process.
    package static let durable: [Backend] = [.files, .filesOnDisk]

    /// Groups in this process's memory.
    package static let memory = Backend(name: "memory") { settings in
        let space =
            settings.clock.map { clock in
                MemorySpace(clock: clock, limits: settings.limits, historyByteCount: settings.historyByteCount)
            } ?? MemorySpace(limits: settings.limits, historyByteCount: settings.historyByteCount)
        return TestGroup(place: "memory", keeps: []) { description, requirements throws(SharedCoreError) in
            try await space.open("group", as: description, requirements: requirements)
        }
    }

    /// Groups in a directory, with commits that survive any process.
    package static let files = Backend(name: "files") { try directoryGroup($0, durability: .process) }

    /// Groups in a directory, with commits that survive the loss of power.
    package static let filesOnDisk = Backend(name: "files on disk") { try directoryGroup($0, durability: .disk) }

    private static func directoryGroup(_ settings: Settings, durability: Durability) throws -> TestGroup {
        let directory = try TemporaryDirectory()
        let clock: any TimeSource = settings.clock ?? SystemClock()
        let path = directory.path(of: "group")
        return TestGroup(place: path, keeps: [directory]) { description, requirements throws(SharedCoreError) in
            try await FileGroup.open(
                directory: path, as: description,
                options: FileGroupOptions(
                    durability: durability, limits: settings.limits, historyByteCount: settings.historyByteCount,
                    requirements: requirements, clock: clock))
        }
    }

    /// Runs a test on a fresh group, then closes every handle that the test opened.
    package func withGroup<Result>(
        _ settings: Settings = Settings(), _ body: (TestGroup) async throws -> Result
    ) async throws -> Result {
        let group = try make(settings)
        do {
            let result = try await body(group)
            await group.closeAll()
            return result
        } catch {
            await group.closeAll()
            throw error
        }
    }
}
