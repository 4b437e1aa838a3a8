internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("Expiries that are watched", .timeLimit(.minutes(10)))
struct ExpiryTests {
    @Test("S8: an expiry that cannot be recorded is tried again after a while, and no sooner")
    func failingExpiry() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        let watch = try await group.watch()
        try await group.put("brief", [1], lifetime: .expiring(after: .seconds(10)))
        let due = clock.now().advanced(by: .seconds(10))
        try await eventually("the expiry is waited for") { clock.nextWake == due }

        // The system refuses writes to this journal, and to no other.
        let refused = "pwrite\(path)/journal-1"
        let armed = FailPoint.arm("\(refused):fail*")
        defer { armed.disarm() }
        clock.advance(by: .seconds(10))
        let next = clock.now().advanced(by: .milliseconds(250))
        try await eventually("the next try waits") { clock.nextWake == next }
        #expect(FailPoint.strikeCount(of: refused) > 0)
        let standing = group.local.position.offset

        armed.disarm()
        clock.advance(by: .milliseconds(250))
        try await eventually("it is recorded") { group.local.position.offset > standing }
        #expect(try await group.get("brief") == nil)
        watch.cancel()
        await group.close()
    }

    @Test("S8: a wait for an expiry that was put off goes on, and what expires later ends in its time")
    func laterExpiry() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let group = try await FileGroup.open(
            directory: directory.path(of: "group"), options: FileGroupOptions(clock: clock))
        let watch = try await group.watch()
        let (first, second) = (clock.now().advanced(by: .seconds(10)), clock.now().advanced(by: .seconds(20)))
        try await group.put("first", [1], lifetime: .expiring(after: .seconds(10)))
        try await eventually("the first is waited for") { clock.nextWake == first }
        try await group.put("second", [1], lifetime: .expiring(after: .seconds(20)))
        try await group.delete("first")
        group.local.signalUpdates()
        #expect(clock.nextWake == first)

        clock.advance(to: first)
        try await eventually("the second is waited for") { clock.nextWake == second }
        let standing = group.local.position.offset
        clock.advance(to: second)
        try await eventually("it is recorded") { group.local.position.offset > standing }
        #expect(try await group.get("second") == nil)
        watch.cancel()
        await group.close()
    }
}
