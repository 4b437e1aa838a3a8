import Foundation
import Testing

@Suite("The story at the end of the tutorial", .serialized)
struct StoryTests {
    @Test("Without Main an Executor runs the core; with Main it does not; after Main was killed it does again")
    func story() async throws {
        let play = try Play()
        defer { play.remove() }
        try play.write("see you at eight", as: "1")
        let first = try play.start("push", "1", as: "first")
        #expect(try await play.waits { !first.isRunning })
        #expect(try play.output("first").contains("1: see you at eight (core)\n"))

        let main = try play.start("main", as: "main")
        defer { if main.isRunning { kill(main.processIdentifier, SIGKILL) } }
        #expect(try await play.waits { try play.output("main").contains("Main owns the core.") })
        try play.write("at nine", as: "2")
        let second = try play.start("push", "2", as: "second")
        #expect(try await play.waits { !second.isRunning })
        #expect(try play.output("second") == "2: at nine (inbox)\n")

        kill(main.processIdentifier, SIGKILL)
        try play.write("at ten", as: "3")
        let third = try play.start("push", "3", as: "third")
        #expect(try await play.waits { !third.isRunning })
        #expect(try play.output("third").contains("3: at ten (core)\n"))
    }

    @Test("An Executor that waits hands its core to Main, and gets its message from it; a post ends Main")
    func handover() async throws {
        let play = try Play()
        defer { play.remove() }
        let push = try play.start("push", "4", as: "push")
        defer { if push.isRunning { kill(push.processIdentifier, SIGKILL) } }
        #expect(try await play.waits { try play.output("push").contains("the core starts") })
        let main = try play.start("main", as: "main")
        defer { if main.isRunning { kill(main.processIdentifier, SIGKILL) } }
        #expect(try await play.waits { try play.output("main").contains("Main owns the core.") })
        #expect(try play.output("push").contains("the core stops"))
        try play.write("at eleven", as: "4")
        #expect(try await play.waits { !push.isRunning })
        #expect(try play.output("push").hasSuffix("4: at eleven (inbox)\n"))

        let close = try play.start("close", as: "close")
        #expect(try await play.waits { !close.isRunning && !main.isRunning })
        #expect(try play.output("main").hasSuffix("the core stops\n"))
        #expect(main.terminationStatus == 0)
    }

    @Test("What cannot be done is said, with status 1: a second Main is refused")
    func refusal() async throws {
        let play = try Play()
        defer { play.remove() }
        let main = try play.start("main", as: "main")
        defer { if main.isRunning { kill(main.processIdentifier, SIGKILL) } }
        #expect(try await play.waits { try play.output("main").contains("Main owns the core.") })
        let second = try play.start("main", as: "second")
        defer { if second.isRunning { kill(second.processIdentifier, SIGKILL) } }
        #expect(try await play.waits { !second.isRunning })
        #expect(try play.output("second").hasPrefix("pair: refused: "))
        #expect(second.terminationReason == .exit)
        #expect(second.terminationStatus == 1)
    }
}
