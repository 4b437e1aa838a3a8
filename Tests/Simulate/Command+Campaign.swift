internal import Simulation

extension Command {
    /// Runs schedules on all workers. Each takes the next part when it is done with one.
    func campaign(_ schedules: UInt64, damagedBy mutant: Mutant? = nil, patience: Int = 10) async -> Campaign.Report {
        let end = first + schedules
        let next = Counter(first)
        let part: UInt64 = 250
        var report = Campaign.Report()
        await withTaskGroup(of: Campaign.Report.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var sum = Campaign.Report()
                    while sum.failures.count < patience {
                        let start = next.take(part)
                        guard start < end else { break }
                        let seeds = start..<min(start + part, end)
                        sum.add(Campaign(seeds: seeds, damagedBy: mutant, patience: patience).run())
                    }
                    return sum
                }
            }
            for await part in group { report.add(part) }
        }
        report.failures.sort { $0.seed < $1.seed }
        return report
    }
}
