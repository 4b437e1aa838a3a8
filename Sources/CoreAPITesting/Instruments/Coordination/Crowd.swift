internal import Coordination
internal import CoreAPI

/// Executors of one process that all start at once, each for its own message: `call-<number>`.
struct Crowd: Sendable {
    let numbers: Range<Int>
    let server: SharedServer
    let settings: PlayerSettings
    let isPlayed: Bool
    let open: @Sendable (SessionDescription) async throws(SharedCoreError) -> any SharedGroup

    /// The results of the executors of a cluster.
    struct Count: Sendable {
        /// The number of Executors that got the text of their own call-id, with an acknowledgement that counted.
        var served = 0
        var coreStarts = 0
        /// The results of the others.
        var others: [String] = []

        /// The count as one line.
        var text: String { "\(served) \(coreStarts) " + others.joined(separator: "; ") }

        static func + (left: Count, right: Count) -> Count {
            Count(
                served: left.served + right.served, coreStarts: left.coreStarts + right.coreStarts,
                others: left.others + right.others)
        }
    }

    /// Makes all requests, and returns when all were answered and every core has stopped.
    func run() async -> Count {
        await withTaskGroup(of: Count.self) { tasks in
            for number in numbers { tasks.addTask { await serve("call-\(number)") } }
            return await tasks.reduce(Count(), +)
        }
    }

    private func serve(_ callID: String) async -> Count {
        var count = Count()
        do {
            let handle = try await open(SessionDescription(role: .executor, name: callID))
            let player = try PlayerSession(on: handle, at: server, settings, isPlayed: isPlayed)
            _ = try await player.run("ask", ["1", callID, "120000"])
            let answer = try await player.run("answer", ["1"])
            try Troupe.check(answer, isTextOf: callID, callID)
            if try await player.run("acknowledge", ["1"]) == "true" {
                count.served = 1
            } else {
                count.others = ["\(callID): its acknowledgement came too late"]
            }
            _ = try await player.run("finish", [])
            count.coreStarts = Int(try await player.run("coreStarts", [])) ?? 0
            _ = try await player.run("close", [])
        } catch {
            count.others.append("\(callID): \(error)")
        }
        return count
    }
}

/// A cluster of Executors that waits for its messages.
package struct CrowdRun: Sendable {
    private let here: Task<Crowd.Count, Never>?
    private let apart: [Peer]

    init(here: Task<Crowd.Count, Never>) {
        self.here = here
        apart = []
    }

    init(apart: [Peer]) {
        here = nil
        self.apart = apart
    }

    /// Waits for all Executors, and checks that each was served with the text of its own call-id.
    ///
    /// - Returns: The number of cores that the cluster has started.
    package func served(_ size: Int) async throws -> Int {
        var count = (served: 0, coreStarts: 0)
        var others: [String] = []
        if let here {
            let result = await here.value
            count = (result.served, result.coreStarts)
            others = result.others
        }
        for peer in apart {
            let words = try await peer.tell("crowdDone", timeout: TestTimeout.long)
                .split(separator: " ", maxSplits: 2).map(String.init)
            count.served += Int(words[0]) ?? 0
            count.coreStarts += words.count > 1 ? Int(words[1]) ?? 0 : 0
            if words.count > 2 { others.append(words[2]) }
        }
        try expect(others, is: [], "what those heard that were not served")
        try expect(count.served, is: size, "the messages that were shown and acknowledged, each once")
        return count.coreStarts
    }
}
