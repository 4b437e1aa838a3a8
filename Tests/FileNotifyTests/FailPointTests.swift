internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("Injected faults", .timeLimit(.minutes(2)))
struct FailPointTests {
    @Test("a fault acts as often as it was armed to, from its turn on, and each strike is counted under the armed name")
    func strikesAreCounted() async throws {
        let directory = try TemporaryDirectory()
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("put key 0")
        try await peer.tell("arm pwrite/journal-:fail@2*2,commit.afterLock:wait=0*")
        for number in 1...4 {
            let isRefused = [2, 3].contains(number)
            if isRefused {
                await #expect(throws: PeerRefusal.self) { try await peer.tell("put key \(number)") }
            } else {
                try await peer.tell("put key \(number)")
            }
        }
        #expect(try await peer.tell("strikes pwrite/journal-") == "2")
        #expect(try await peer.tell("strikes commit.afterLock") == "4")
        #expect(try await peer.tell("strikes commit.beforeUnlock") == "0")
    }
}
