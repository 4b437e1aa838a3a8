import KeptSockets
import Platform

/// The file in which a Main for tests writes down its actions, so that a later one goes on.
struct Notebook: Sendable {
    private let file: OpenFile

    init(path: String) throws(SystemCallError) {
        file = try OpenFile(path: path, .create)
        try file.appendOnly()
    }

    func write(_ line: String) throws(SystemCallError) {
        try file.writeStream(Array((line + "\n").utf8))
    }
}

/// The wakes that the keeper reports, by data and by the holder. Every message of the keeper is noted.
struct Wakes: Sendable {
    private let stream: AsyncStream<Void>

    init(of sockets: KeptSockets, _ notebook: Notebook, resting: RestingMain? = nil) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let events = sockets.events
        Task {
            for await event in events {
                try? notebook.write("event \(event)")
                switch event {
                case .wake, .woken: continuation.yield()
                case .budgetEnds: break
                // Without a keeper no process watches the sockets of a Main that sleeps.
                case .keeperLost: try? await resting?.resume()
                case .keeperFound: try? await resting?.rest()
                }
            }
        }
    }

    /// Waits for one.
    func next() async {
        for await _ in stream { return }
    }
}
