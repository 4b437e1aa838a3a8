import Foundation
import Testing

@Suite("Several processes count together")
struct CounterTests {
    @Test("Nothing is lost when four count at once, and whoever follows sees the number rise to the last")
    func countingTogether() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "counter-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path(percentEncoded: false)
        let follower = try Program("show", path, "--follow")
        defer { follower.kill() }
        try await follower.says("0")

        let counting = try (1...4).map { _ in try Program("add", path, "250") }
        for program in counting { #expect(try await program.ends() == 0) }

        try await follower.says("1000")
        let numbers = follower.lines.compactMap { Int($0) }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "it rises")
        let last = try Program("show", path)
        #expect(try await last.ends() == 0)
        #expect(last.lines == ["1000"])
    }

    @Test("What it does not understand it refuses, and says what it does")
    func usage() async throws {
        let program = try Program("subtract")
        #expect(try await program.ends() == 1)
    }
}
