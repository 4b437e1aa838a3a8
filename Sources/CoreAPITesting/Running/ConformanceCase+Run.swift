internal import CoreAPI

extension ConformanceCase {
    /// Tries the rule on a backend. A case whose task is cancelled meanwhile is ``CaseOutcome/interrupted``.
    ///
    /// - Parameters:
    ///   - harness: How to get at the backend.
    ///   - seed: What random choices are made from; nil for one that nobody has tried before. The result names it.
    ///   - timeout: How long the case may take; nil for its own ``timeLimit``.
    public func run(
        on harness: any ConformanceHarness, seed: UInt64? = nil, timeout: Duration? = nil
    ) async -> CaseResult {
        let timeLimit = timeout ?? timeLimit
        let seed = seed ?? UInt64.random(in: 1...UInt64.max)
        let context = CaseContext(harness: harness, seed: Seed(rawValue: seed))
        let clock = ContinuousClock()
        let began = clock.now
        let outcome: CaseOutcome
        do {
            if let refusal = try await refusedPromises(in: context) {
                outcome = .unsupported(refusal)
            } else {
                // A case that hangs must not stand still: it ends at its limit, whatever it waits for.
                try await withTimeout(timeLimit, "the case \(id) ends") { try await self(context) }
                outcome = .passed
            }
        } catch let limitation as HarnessLimitation {
            outcome = .skipped(limitation.reason)
        } catch  where Task.isCancelled {
            outcome = .interrupted
        } catch {
            outcome = .failed("\(error)" + context.report(seed: seed))
        }
        // What is left may hang as well, on a backend that is broken enough.
        do { try await withTimeout(TestTimeout.usual, "the groups of the case end") { await context.end() } } catch {}
        return CaseResult(
            conformanceCase: self, outcome: outcome, remarks: context.remarks, duration: began.duration(to: clock.now),
            seed: seed)
    }

    /// What the backend does not promise of what the case is about, after making sure that it refuses whoever requires
    /// it; nil when it promises everything.
    private func refusedPromises(in context: CaseContext) async throws -> String? {
        guard !promises.isEmpty || durability != nil else { return nil }
        return try await context.withGroup { group in
            let capabilities = try await group.open().capabilities
            var missing = promises.subtracting(capabilities.features).map {
                ($0.rawValue, Requirements(features: [$0]))
            }
            if let durability, capabilities.durability < durability {
                missing.append(("durability \(durability.rawValue)", Requirements(durability: durability)))
            }
            for (promise, requirement) in missing {
                try await expect(.unsupported, from: "opening with the requirement of \(promise)") {
                    try await group.open(requiring: requirement)
                }
            }
            return missing.isEmpty ? nil : "not promised: " + missing.map(\.0).sorted().joined(separator: ", ")
        }
    }
}
