internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S6: one wins", .timeLimit(.minutes(10)))
struct CompareAndSetTests {
    @Test("S6: of 32 creators exactly one succeeds, and the others learn who it was", arguments: Backend.all)
    func oneCreatorWins(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 32)
            for round in 0..<10 {
                let key = try Key("leader/\(round)")
                let failures = try await together(32) { number -> GuardFailure? in
                    let outcome = try await attempt {
                        try await handles[number].put(key, [UInt8(number)], lifetime: .session, if: .absent(key))
                    }
                    guard case .failure(let error) = outcome else { return nil }
                    #expect(error.code == .guardFailed)
                    return error.guardFailure
                }
                let winners = failures.indices.filter { failures[$0] == nil }
                #expect(winners.count == 1)
                let leader = try await handles[0].get(key)
                #expect(leader?.value == winners.map { UInt8($0) })
                #expect(failures.compactMap { $0 }.allSatisfy { $0.found == leader && $0.condition == .absent(key) })
            }
        }
    }

    @Test("S6: 16 participants that increment 60 times each make 960", arguments: Backend.all)
    func incrementsAreExact(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 16)
            try await handles[0].put("counter", number(0))
            _ = try await together(16) { index in
                var done = 0
                while done < 60 {
                    guard let entry = try await handles[index].get("counter") else { break }
                    let outcome = try await attempt {
                        try await handles[index].put(
                            "counter", number(value(entry.value) + 1), if: .revision("counter", entry.revision))
                    }
                    switch outcome {
                    case .success: done += 1
                    case .failure(let error): #expect(error.code == .guardFailed)
                    }
                }
            }
            #expect(try await handles[0].get("counter").map { value($0.value) } == 960)
        }
    }
}

/// A number as a value.
private func number(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

/// The number of a value.
private func value(_ bytes: [UInt8]) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
