internal import CoreAPI
internal import CoreAPITesting
internal import LogBackend
internal import TestInstruments
internal import TestSupport
internal import Testing

/// A log that breaks a rule, and the rules of the contract of which at least one case must fail.
private struct LogMutant: CustomTestStringConvertible {
    let name: String
    let rules: [String]
    let change: @Sendable (inout ChangedLog) -> Void

    var testDescription: String { name }

    static let all = [
        LogMutant(name: "an append takes the place of another's record", rules: ["S6"]) { log in
            log.append = { view, record, position in
                view.log.force(record, at: position)
                return true
            }
        },
        LogMutant(name: "an append is forgotten", rules: ["S3", "S4"]) { log in
            log.append = { view, record, position throws(SharedCoreError) in
                position > 4 ? true : try await view.append(record, at: position)
            }
        },
        LogMutant(name: "its growth is told to no participant", rules: ["W1", "N2"]) { log in
            log.wait = { _, _ throws(SharedCoreError) in
                do { try await untilCancelled() } catch { throw SharedCoreError(.cancelled, "Cancelled.", at: "log") }
            }
        },
        LogMutant(name: "a read leaves the first of several records out", rules: ["S4", "S6"]) { log in
            log.read = { view, position, limit throws(SharedCoreError) in
                var slice = try await view.read(from: position, limit: limit)
                if slice.records.count > 1 { slice.records.removeFirst() }
                return slice
            }
        },
        LogMutant(name: "a read leaves the last record out", rules: ["S4"]) { log in
            log.read = { view, position, limit throws(SharedCoreError) in
                var slice = try await view.read(from: position, limit: limit)
                slice.records = slice.records.dropLast()
                return slice
            }
        },
        LogMutant(name: "a compaction keeps no snapshot", rules: ["S10", "W3"]) { log in
            log.compact = { view, _, position throws(SharedCoreError) in
                try await view.compact([], before: position)
            }
        },
        LogMutant(name: "a read without an answer shows nothing new", rules: ["S4"]) { log in
            log.read = { view, position, limit throws(SharedCoreError) in
                do throws(SharedCoreError) { return try await view.read(from: position, limit: limit) } catch {
                    guard error.code == .unavailable else { throw error }
                    return LogSlice(start: 0, records: [])
                }
            }
        },
        LogMutant(name: "an append without an answer is told as a refusal", rules: ["S12"]) { log in
            log.append = { view, record, position throws(SharedCoreError) in
                do throws(SharedCoreError) { return try await view.append(record, at: position) } catch {
                    throw error.code == .unavailable ? SharedCoreError(.storageFull, "Not now.", at: "log") : error
                }
            }
        },
        LogMutant(name: "a full log says that it has appended", rules: ["S10"]) { log in
            log.append = { view, record, position throws(SharedCoreError) in
                do throws(SharedCoreError) { return try await view.append(record, at: position) } catch {
                    guard error.code == .storageFull else { throw error }
                    return true
                }
            }
        },
        LogMutant(name: "an end is told to no participant", rules: ["L1"]) { log in log.ended = { _, _ in [] } },
    ]
}

/// The suite tests all rules of a log.
@Suite(
    "Mutants: a log that breaks a duty is caught by the suite", .enabled(if: TestScope.isCheck), .serialized)
struct LogMutantTests {
    @Test("It fails a case of its rules", arguments: LogMutant.all)
    private func caught(mutant: LogMutant) async {
        let harness = MemoryLogHarness { view in
            var log = ChangedLog(view: view)
            mutant.change(&log)
            return log
        }
        let cases = ConformanceSuite.cases.filter { mutant.rules.contains($0.rule) }
        for conformanceCase in cases {
            let result = await TestTimeout.$usual.withValue(.seconds(2)) {
                await conformanceCase.run(on: harness, seed: 1, timeout: .seconds(30))
            }
            guard case .failed = result.outcome else { continue }
            print("\(mutant.name): \(conformanceCase.id)")
            return
        }
        Issue.record("No case of \(mutant.rules) has noticed it: \(cases.map(\.id))")
    }
}
