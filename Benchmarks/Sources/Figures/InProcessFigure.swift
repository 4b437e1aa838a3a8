internal import Benchmark
internal import CoreAPI
internal import FileNotifyBackend
internal import InMemoryBackend

/// One thing that is measured inside of one process.
package struct InProcessFigure: Sendable {
    /// Marks the beginning and the end of the measured work. Work before and after is not part of the figure.
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

    package static let all = [
        InProcessFigure(name: "memory.get") { count, moments in try await get(count, of: memory(), moments) },
        InProcessFigure(name: "memory.put") { count, moments in try await put(count, to: memory(), moments) },
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

    private static let value = [UInt8](repeating: 118, count: 256)

    private static func memory() async throws -> MemoryGroup {
        try await MemorySpace().open("bench", as: SessionDescription(role: .tool, name: "bench"))
    }

    private static func get(_ count: Int, of group: some SharedStore, _ moments: Moments) async throws {
        let key = try Key("bench/key")
        try await group.put(key, value)
        moments.begin()
        for _ in 0..<count { blackHole(try await group.get(key)) }
        moments.end()
        await group.close()
    }

    private static func put(_ count: Int, to group: some SharedStore, _ moments: Moments) async throws {
        let key = try Key("bench/key")
        moments.begin()
        for _ in 0..<count { try await group.put(key, value) }
        moments.end()
        await group.close()
    }
}
