internal import CoreAPI
internal import Platform

extension BenchOrders {
    func ping(_ count: Int) async throws -> [Double] {
        let answers = try await group.observe("bench/back")
        var samples: [Double] = []
        for _ in 0..<count {
            try await group.post("bench/there", state: SystemClock().now().nanoseconds)
            guard let answer = try await answers.next() else { break }
            samples.append(Double(answer.state))
        }
        return samples
    }

    func echo() async throws {
        let questions = try await group.observe("bench/there")
        begin { [group] in
            for try await question in questions {
                let elapsed = SystemClock().now().nanoseconds &- question.state
                try await group.post("bench/back", state: elapsed)
            }
        }
    }

    func observe(_ count: Int) async throws {
        let heard = HeardPosts()
        for _ in 0..<count {
            let posts = try await group.observe("bench/all")
            begin { [report] in
                for try await post in posts {
                    let now = SystemClock().now().nanoseconds
                    if heard.add(post.state) == count { report("heard \(now)") }
                }
            }
        }
    }
}
