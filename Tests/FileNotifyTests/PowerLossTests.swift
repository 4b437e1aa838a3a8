internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// The power fails after every single change to the files. Changes that were not synced are lost, kept, or on the disk
/// in another order.
@Suite("The loss of power", .serialized, .timeLimit(.minutes(10)))
struct PowerLossTests {
    /// The committed values, and the state after each commit.
    private struct Story {
        var states: [[Key: [UInt8]]] = [[:]]
        var revisions: [UInt64] = [0]

        mutating func put(_ key: Key, _ value: [UInt8], in group: FileGroup) async throws {
            var state = states[states.count - 1]
            state[key] = value
            states.append(state)
            revisions.append(try await group.put(key, value).revision.rawValue)
            FileTrace.mark(states.count - 1)
        }
    }

    private func value(_ number: Int) -> [UInt8] {
        // Some lie in one page, some across two, some in pages of their own.
        [UInt8](repeating: UInt8(number % 251 + 1), count: [40, 700, 5_000, 90, 9_000][number % 5])
    }

    /// The number of last changes that may have reached the disk in any order, after each thing that was done. Each
    /// more doubles the time.
    private static let window = TestScope.isAtLength ? 10 : 7

    /// Opens the files that each loss of power may have left, on a machine that was started anew.
    ///
    /// They have every reordering of the last changes, none of the changes that were not synced, or random parts of
    /// them.
    ///
    /// - Parameter isDurable: True if commits that had returned must be there.
    private func judge(
        _ events: [FileTrace.Event], _ story: Story, isDurable: Bool, seed: Seed = Seed.several(1)[0]
    ) async throws {
        var random = SeededRandom(seed)
        var model = DiskModel()
        var returned = 0
        var seen: Set<Int> = []
        var judged = 0
        #expect(events.count > 50, "something was recorded")
        for (index, event) in events.enumerated() {
            model.apply(event)
            if case .mark(let number) = event {
                returned = number
                // A state of the disk that was complete before may be incomplete now.
                if isDurable { seen = [] }
            }
            var images = [model.lost, model.kept, model.torn(&random), model.torn(&random)]
            images += model.reorderings(within: Self.window)
            let unseen = images.filter { seen.insert($0.digest).inserted }
            do {
                try await judge(unseen, story, returned: isDurable ? returned : nil)
            } catch {
                Issue.record("after event \(index) of \(events.count), \(seed): \(error)")
                return
            }
            judged += unseen.count
        }
        #expect(judged > events.count)
    }

    /// Opens the files that each loss has left, two at a time.
    private func judge(_ images: [DiskImage], _ story: Story, returned: Int?) async throws {
        try await withThrowingTaskGroup { group in
            for half in 0..<2 {
                group.addTask {
                    for index in stride(from: half, to: images.count, by: 2) {
                        try await judge(images[index], story, returned: returned)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Opens the files that were left.
    ///
    /// - Parameter returned: How many commits had returned and must be there.
    private func judge(_ image: DiskImage, _ story: Story, returned: Int?) async throws {
        // In memory where there is such a place: thousands of groups are opened, and none of them must be durable.
        let place = try TemporaryDirectory(in: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil)
        let path = place.path(of: "left")
        try image.write(to: path)
        let clock = ManualClock()
        for _ in 0..<50 { clock.reboot() }
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        var found: [Key: [UInt8]] = [:]
        for entry in try await group.list().entries { found[entry.key] = entry.value }
        try expect(
            story.states[(returned ?? 0)...].contains(found), "what stands is no prefix with \(returned ?? 0) commits")
        if let returned {
            try expect(
                group.session.id.rawValue > story.revisions[...returned].max() ?? 0,
                "a revision was given out before")
        }
        try await group.put("after", [1])
        let second = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        try expect(try await second.list().entries.count == found.count + 1, "the next commit is not read")
        await second.close()
        await group.close()
    }

    @Test(
        "S3, S9, S10: everything that had returned stands, what stands is a prefix, and no revision comes twice",
        .enabled(if: TestScope.isCheck))
    func commits() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        FileTrace.begin(in: path)
        let options = FileGroupOptions(durability: .disk, clock: ManualClock())
        let group = try await FileGroup.open(directory: path, options: options)
        var story = Story()
        for number in 1...25 { try await story.put(Key("key\(number % 7)"), value(number), in: group) }
        let events = FileTrace.end()
        try await judge(events, story, isDurable: true)
        await group.close()
    }

    @Test(
        "S10: a compaction loses nothing, also one by a participant that asks for less", .enabled(if: TestScope.isCheck)
    )
    func compactions() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        FileTrace.begin(in: path)
        let clock = ManualClock()
        let group = try await FileGroup.open(
            directory: path, options: FileGroupOptions(durability: .disk, clock: clock))
        // Sizes of its own, so that it has an own part, as a process has.
        let other = try await FileGroup.open(
            directory: path, options: FileGroupOptions(historyByteCount: 1_000, clock: clock))
        var story = Story()
        for number in 1...12 {
            if number % 4 == 2 {
                // In the middle of a commit that waits for the disk, or before or after it.
                async let compaction = other.compactNow()
                try await story.put(Key("key\(number % 5)"), value(number), in: group)
                _ = try await compaction
            } else {
                try await story.put(Key("key\(number % 5)"), value(number), in: group)
            }
            if number % 4 == 0 { #expect(try await (number % 8 == 0 ? group : other).compactNow()) }
        }
        let events = FileTrace.end()
        try await judge(events, story, isDurable: true)
        await other.close()
        await group.close()
    }

    @Test("S3, S10: neither does a start of the machine, whenever the power fails again")
    func starts() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        FileTrace.begin(in: path)
        let clock = ManualClock()
        let options = FileGroupOptions(durability: .disk, clock: clock)
        var story = Story()
        for run in 0..<3 {
            let group = try await FileGroup.open(directory: path, options: options)
            for number in 1...5 { try await story.put(Key("key\(number)"), value(run * 5 + number), in: group) }
            clock.reboot()
            // The session of this handle is over in the new run. This only frees the group.
            await group.close()
        }
        let events = FileTrace.end()
        try await judge(events, story, isDurable: true)
    }

    @Test(
        "S9: without durability on the disk a prefix stands, and the group opens in any case",
        .enabled(if: TestScope.isCheck))
    func withoutDurability() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        FileTrace.begin(in: path)
        let clock = ManualClock()
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        var story = Story()
        for number in 1...15 {
            try await story.put(Key("key\(number % 5)"), value(number), in: group)
            if number % 5 == 0 { #expect(try await group.compactNow()) }
        }
        let events = FileTrace.end()
        try await judge(events, story, isDurable: false)
        await group.close()
    }
}
