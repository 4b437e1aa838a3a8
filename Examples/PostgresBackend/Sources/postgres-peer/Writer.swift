import CoreAPI
import Glibc
import PostgresBackend

/// Puts numbered values, each until it is acknowledged, and prints `value N` then. A failure is printed as `failed CODE`.
enum Writer {
    static func run(in place: PostgresPlace, as name: String) async throws {
        let group = try await PostgresGroup.open(place, as: SessionDescription(name: name))
        var number = 0
        while !Task.isCancelled {
            do throws(SharedCoreError) {
                try await group.put(try Key.init("\(name)/\(number)"), Array("\(number)".utf8))
                print("value \(number)")
                number += 1
                // The other participants apply each put, and must keep up with two writers.
                try? await Task.sleep(for: .milliseconds(5))
            } catch {
                guard [.outcomeUnknown, .unavailable].contains(error.code) else { throw error }
                print("failed \(error.code)")
                try await Task.sleep(for: .milliseconds(50))
            }
            fflush(nil)
        }
    }
}

/// The words `SCHEMA GROUP SERVER`: the connection string is the rest of the line.
struct PeerAddress {
    let place: PostgresPlace

    init(_ text: String) throws(SharedCoreError) {
        let words = text.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count == 3 else { throw SharedCoreError(.invalidArgument, "The address is too short.", at: text) }
        place = try PostgresPlace(server: words[2], schema: words[0], group: words[1])
    }
}
