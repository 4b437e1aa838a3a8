import Foundation
import Testing

@Suite("The chat, with a process for each terminal")
struct ChatTests {
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "chat-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    @Test("Each hears the other, and nobody oneself")
    func conversation() async throws {
        try await withDirectory { directory in
            let zoe = try Terminal(directory, "zoe")
            try await zoe.sees("Welcome, zoe. Ctrl-D ends the chat.")
            let ben = try Terminal(directory, "ben")
            try await ben.sees("Welcome, ben. Ctrl-D ends the chat.")
            try zoe.type("hello")
            try await ben.sees("zoe: hello")
            try ben.type("hello yourself")
            try await zoe.sees("ben: hello yourself")
            #expect(!zoe.screen.contains("zoe: hello"))
            #expect(try await zoe.leave() == 0)
            #expect(try await ben.leave() == 0)
        }
    }

    @Test("Whoever comes later is told what was said, in its order, also by one who was killed")
    func history() async throws {
        try await withDirectory { directory in
            let zoe = try Terminal(directory, "zoe")
            let ben = try Terminal(directory, "ben")
            try await ben.sees("Welcome, ben. Ctrl-D ends the chat.")
            for number in 1...3 { try zoe.type("line \(number)") }
            try await ben.sees("zoe: line 3")
            zoe.kill()
            #expect(try await ben.leave() == 0)
            let late = try Terminal(directory, "late")
            try await late.sees("zoe: line 3")
            #expect(late.screen.filter { $0.hasPrefix("zoe") } == ["zoe: line 1", "zoe: line 2", "zoe: line 3"])
            #expect(try await late.leave() == 0)
        }
    }

    @Test("What others send does not control one's terminal")
    func control() async throws {
        try await withDirectory { directory in
            let (zoe, ben) = (try Terminal(directory, "zoe"), try Terminal(directory, "ben"))
            try await ben.sees("Welcome, ben. Ctrl-D ends the chat.")
            try zoe.type("\u{1b}[2Jgone")
            try await ben.sees("zoe: ·[2Jgone")
            #expect(try await zoe.leave() == 0)
            #expect(try await ben.leave() == 0)
        }
    }
}
