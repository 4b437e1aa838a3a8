import KeptSockets

/// The wakes that come from the keeper; everything that it says is noted.
struct Wakes: Sendable {
    private let stream: AsyncStream<Void>

    init(of sockets: KeptSockets, _ notebook: Notebook) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let events = sockets.events
        Task {
            for await event in events {
                try? notebook.write("event \(event)")
                if case .wake = event { continuation.yield() }
            }
        }
    }

    /// Waits for one.
    func next() async {
        for await _ in stream { return }
    }
}
