internal import Benchmark
internal import CoreAPI
internal import FileNotifyBackend
internal import InMemoryBackend
internal import StoreEngine

/// One thing that is measured inside of one process.
package struct InProcessFigure: Sendable {
    /// When what is measured begins and ends; what is before and behind is not part of it.
    package struct Moments {
        let begin: () -> Void
        let end: () -> Void

        package init(begin: @escaping () -> Void = {}, end: @escaping () -> Void = {}) {
            self.begin = begin
            self.end = end
        }
    }

    package let name: String
    /// Does it so often.
    package let run: @Sendable (_ count: Int, Moments) async throws -> Void

    package static let all = engine + groups

    /// The state machine and the journal's records, without a backend.
    private static let engine = [
        InProcessFigure(name: "frame.make") { count, moments in
            let payload = Journey.payload
            var chain = JournalChain(salt: 1)
            moments.begin()
            for _ in 0..<count { blackHole(chain.frame(payload, interest: .max)) }
            moments.end()
        },
        InProcessFigure(name: "frame.parse") { count, moments in
            var writing = JournalChain(salt: 1)
            let bytes = writing.frame(Journey.payload, interest: .max)
            moments.begin()
            for _ in 0..<count {
                var reading = JournalChain(salt: 1)
                blackHole(reading.read(bytes[...]))
            }
            moments.end()
        },
        InProcessFigure(name: "record.parse") { count, moments in
            let payload = Journey.payload
            moments.begin()
            for _ in 0..<count { blackHole(try JournalRecord(payload[...])) }
            moments.end()
        },
        InProcessFigure(name: "state.decide-and-apply") { count, moments in
            var (state, session) = Journey.state()
            let transaction = try Transaction(operations: [.put(Key("bench/key"), Journey.value, .persistent)])
            let now = BootInstant(nanoseconds: 2)
            moments.begin()
            for _ in 0..<count {
                if case .record(let effect, _) = try state.decide(transaction, of: session, at: now) {
                    state.apply(effect)
                }
            }
            moments.end()
        },
    ]

    /// Groups, with one participant.
    private static let groups = [
        InProcessFigure(name: "memory.get") { count, moments in try await get(count, of: Journey.memory(), moments) },
        InProcessFigure(name: "memory.put") { count, moments in try await put(count, to: Journey.memory(), moments) },
        InProcessFigure(name: "file.get") { count, moments in
            let place = try ScratchGroup()
            try await get(count, of: place.open(), moments)
            place.remove()
        },
        InProcessFigure(name: "file.put") { count, moments in
            let place = try ScratchGroup()
            try await put(count, to: place.open(), moments)
            place.remove()
        },
    ]

    private static func get(_ count: Int, of group: some SharedStore, _ moments: Moments) async throws {
        let key = try Key("bench/key")
        try await group.put(key, Journey.value)
        moments.begin()
        for _ in 0..<count { blackHole(try await group.get(key)) }
        moments.end()
        await group.close()
    }

    private static func put(_ count: Int, to group: some SharedStore, _ moments: Moments) async throws {
        let key = try Key("bench/key")
        moments.begin()
        for _ in 0..<count { try await group.put(key, Journey.value) }
        moments.end()
        await group.close()
    }
}
