internal import Coordination
internal import CoreAPI

/// Executors of one process that all start at once, each for its own message: `call-<number>`.
struct ExecutorBurst: Sendable {
    let numbers: Range<Int>
    let server: SharedServer
    let settings: TestParticipantSettings
    let isSimulated: Bool
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
            let participant = try TestParticipantSession(on: handle, at: server, settings, isSimulated: isSimulated)
            _ = try await participant.run("ask", ["1", callID, "120000"])
            let answer = try await participant.run("answer", ["1"])
            try TestCluster.check(answer, isTextOf: callID, callID)
            if try await participant.run("acknowledge", ["1"]) == "true" {
                count.served = 1
            } else {
                count.others = ["\(callID): its acknowledgement came too late"]
            }
            _ = try await participant.run("finish", [])
            count.coreStarts = Int(try await participant.run("coreStarts", [])) ?? 0
            _ = try await participant.run("close", [])
        } catch {
            count.others.append("\(callID): \(error)")
        }
        return count
    }
}

/// A cluster of Executors that waits for its messages.
package struct ExecutorBurstRun: Sendable {
    private let here: Task<ExecutorBurst.Count, Never>?
    private let apart: [Peer]

    init(here: Task<ExecutorBurst.Count, Never>) {
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
