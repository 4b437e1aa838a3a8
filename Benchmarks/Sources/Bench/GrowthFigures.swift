internal import CoreAPI
internal import Platform

/// The growth of figures with the content of a group: each at its largest size, with the smaller ones beside it.
struct GrowthFigures: Sendable {
    static let names = [
        "growth.keys.get", "growth.keys.put", "growth.bytes.put", "growth.observers.heard", "growth.processes.post",
        "growth.processes.heard", "herd.commit", "herd.wakeups", hubWakeUps,
    ]
    /// The wake-ups of the hub of a cluster of processes, where there is one.
    static let hubWakeUps = "herd.wakeups.hub"

    let programs: BenchPrograms
    let stage: BenchStage

    func figure(_ name: String, rounds: Int?) -> Figure {
        switch name {
        case "growth.keys.get": keys(name, order: "get 20", rounds: rounds ?? 10)
        case "growth.keys.put": keys(name, order: "put 100", rounds: rounds ?? 10)
        case "growth.bytes.put":
            curve(name, of: [16, 256, 4096, 65536], "bytes", rounds: rounds ?? 10) { size in
                let meter = storeMeter("\(name)-\(size)") { _ in }
                return ({ try await meter.take("put 50 \(size)") }, meter)
            }
        case "growth.observers.heard":
            curve(name, of: [1, 10, 100], "observers in one process", rounds: rounds ?? 20) {
                audience("\(name)-\($0)", processes: 1, observers: $0) { $0.heard }
            }
        case "growth.processes.post":
            curve(name, of: [1, 5, 20, 50], "processes", rounds: rounds ?? 20) {
                audience("\(name)-\($0)", processes: $0, observers: 1) { $0.post }
            }
        case "growth.processes.heard":
            curve(name, of: [1, 5, 20, 50], "processes", rounds: rounds ?? 20) {
                audience("\(name)-\($0)", processes: $0, observers: 1) { $0.heard }
            }
        case "herd.commit":
            curve(name, of: [1, 10, 100], "processes", rounds: rounds ?? 1) {
                herd("\(name)-\($0)", of: $0) { $0.commits }
            }
        case Self.hubWakeUps:
            curve(name, of: [1, 10, 100], "processes", rounds: rounds ?? 1, unit: "per commit") {
                herd("\(name)-\($0)", of: $0) { [$0.hubWakeUps] }
            }
        default:
            curve(name, of: [1, 10, 100], "processes", rounds: rounds ?? 1, unit: "per commit") {
                herd("\(name)-\($0)", of: $0) { [$0.wakeUps] }
            }
        }
    }

    private func keys(_ name: String, order: String, rounds: Int) -> Figure {
        curve(name, of: [1, 10, 100, 1000], "keys", rounds: rounds) { count in
            let meter = storeMeter("\(name)-\(count)") { try await $0.numbers(after: "fill \(count)") }
            return ({ try await meter.take(order) }, meter)
        }
    }

    /// The same at several sizes, the largest of which is the figure.
    private func curve(
        _ name: String, of sizes: [Int], _ what: String, rounds: Int, unit: String = "us",
        _ measurement: (Int) -> (Figure.Measurement, BenchMeter)
    ) -> Figure {
        let made = sizes.map { (size: $0, made: measurement($0)) }
        let meters = made.map(\.made.1)
        var rivals = made.map { Figure.Rival(name: "\($0.size) \(what)", measure: $0.made.0) }
        let largest = rivals.removeLast()
        return Figure(
            name: name, unit: unit, rounds: rounds, own: largest.measure, beside: rivals,
            end: { for meter in meters { await meter.end() } })
    }

    /// One participant in a group of its own, behind its hub where there is one.
    private func storeMeter(
        _ name: String, prepare: @escaping @Sendable (ChildProcess) async throws -> Void
    ) -> BenchMeter {
        BenchMeter { [programs, stage] in
            let (group, hub) = try await stage.served(name)
            let process = try await programs.participant(.store, .tool, in: try stage.place("growth"), of: group)
            try await prepare(process)
            return [hub, process].compactMap { $0 }
        }
    }
}
