internal import BackendRegistry
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The time of a client's slowest commits while another client floods the hub.
///
/// It is compared with the time at rest, and with the time while the same flood goes to another hub of the machine:
/// the flood takes processor time in any case.
struct FloodFigure: Sendable {
    static let name = "flood.put"

    /// The number of commits of the flood that are under way at any time, over one connection.
    private static let window = 64
    /// The commits of the client in one round, which gives the time that 99 of 100 do not exceed.
    private static let order = "herd 200 1"

    let programs: BenchPrograms
    let stage: BenchStage

    func figure(rounds: Int?) -> Figure {
        let meter = BenchMeter {
            let place = try stage.place("flood")
            let (own, other) = (try await hub("own"), try await hub("other"))
            var floods: [ChildProcess] = []
            for hub in [own, other] {
                floods.append(try await programs.participant(.store, .tool, in: place, of: hub.flood))
            }
            let client = try await programs.participant(.store, .tool, in: place, of: own.client)
            return [own.process, other.process] + floods + [client]
        }
        func measurement(floodOfHub number: Int?) -> Figure.Measurement {
            {
                let processes = try await meter.processes()
                let flood = number.map { processes[2 + $0] }
                try await flood?.numbers(after: "flood \(Self.window)")
                let samples = Samples(try await meter.take(Self.order))
                try await flood?.numbers(after: "flood 0")
                return [samples.p99].compactMap { $0 }
            }
        }
        return Figure(
            name: Self.name, unit: "us, p99 of a round", rounds: rounds ?? 10, own: measurement(floodOfHub: 0),
            limit: .init(name: "without the flood", measure: measurement(floodOfHub: nil)),
            peers: [.init(name: "with the flood at another hub of the machine", measure: measurement(floodOfHub: 1))],
            end: { await meter.end() })
    }

    private struct Served {
        let process: ChildProcess
        /// The ways to its group with the key of the group's directory, and with one of the flood's own.
        let client: BackendConfiguration
        let flood: BackendConfiguration
    }

    /// A hub at a port, where each connection has a socket of its own, and each key its turn.
    private func hub(_ name: String) async throws -> Served {
        var group = stage.group
        group.stateDirectory = try Directory.makeTemporary("flood-" + name, in: stage.directory)
        group.settings["zmq.endpoint"] = "tcp://127.0.0.1:0"
        group.settings["zmq.hub"] = "none"
        let process = try programs.start(.hub, .tool, in: group.stateDirectory, of: group)
        let words = try await process.line().split(separator: " ").map(String.init)
        guard words.count == 3, words[0] == "at" else {
            throw BenchFailure(.unavailable, "a hub does not say where it is: \(words)")
        }
        try await process.hear("ready")
        group.settings["zmq.endpoint"] = words[1]
        var flood = group
        flood.settings["zmq.secretKey"] = group.stateDirectory + "/flood.key"
        flood.settings["zmq.hubKey"] = words[2]
        return Served(process: process, client: group, flood: flood)
    }
}
