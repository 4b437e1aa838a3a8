package import CoreAPI
internal import FileNotifyBackend
internal import InMemoryBackend

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

    /// Groups in a directory of their own.
    package static let files = Backend(name: "files") { settings in
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        return TestGroup(place: path, keeps: [directory]) { description, requirements throws(SharedCoreError) in
            var options = FileGroupOptions(
                limits: settings.limits, historyByteCount: settings.historyByteCount, requirements: requirements)
            if let clock = settings.clock { options.clock = clock }
            return try await FileGroup.open(directory: path, as: description, options: options)
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
