/// A crowd of Executors that waits for its messages.
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

    /// Waits for all, and makes sure that each was served with the text of its own call-id.
    ///
    /// - Returns: How many cores the crowd has started.
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
