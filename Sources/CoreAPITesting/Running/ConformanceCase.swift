public import CoreAPI

/// A test of one rule of the contract, or a part of it, that can run on any backend.
///
/// A case is a value that does not depend on a test framework. Adapters report the result of each case in Swift Testing
/// and in XCTest; ``run(on:seed:timeout:)`` runs it anywhere.
public struct ConformanceCase: Hashable, Sendable, Identifiable, CustomStringConvertible {
    package typealias Body = @Sendable (CaseContext) async throws -> Void

    /// The number of the rule in the contract, and a letter: `S6a`.
    public let id: String
    /// The rule, as a sentence.
    public let title: String
    /// The capabilities that the case tests. On a backend that does not promise them, the case only checks that the
    /// backend refuses a caller that requires them.
    public let promises: Set<Capability>
    /// The failure that a commit must survive on the backend, for a case about a group that all participants have left.
    public let durability: Durability?
    /// The fault of a server or of a connection that the case causes; nil for none. If the harness cannot cause it, the
    /// case is skipped.
    public let fault: ServerFault?
    /// The time that the case may take, on a slow and busy machine.
    public let timeLimit: Duration
    private let body: Body

    /// Makes a case.
    ///
    /// - Parameter id: The number of the rule and a letter. The title has the other rules that the case tests.
    package init(
        _ id: String, _ title: String, promises: Set<Capability> = [], durability: Durability? = nil,
        fault: ServerFault? = nil, timeLimit: Duration = .seconds(300), body: @escaping Body
    ) {
        self.id = id
        self.title = title
        self.promises = promises
        self.durability = durability
        self.fault = fault
        self.timeLimit = timeLimit
        self.body = body
    }

    /// The number of the rule in the contract: `S6`.
    public var rule: String { String(id.prefix { !$0.isLowercase }) }

    public var description: String { "\(id): \(title)" }

    func callAsFunction(_ context: CaseContext) async throws {
        try await body(context)
    }

    public static func == (left: ConformanceCase, right: ConformanceCase) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ConformanceCase {
    /// The place of the case in the contract: by part, by number, by letter.
    var place: (part: Int, number: Int, letter: String) {
        let parts: [Character] = ["S", "W", "N", "L", "C", "P", "M", "E"]
        let part = id.first.flatMap { parts.firstIndex(of: $0) } ?? parts.count
        return (part, Int(rule.dropFirst()) ?? 0, String(id.dropFirst(rule.count)))
    }
}

/// A case that was run, and its outcome.
public struct CaseResult: Sendable {
    public let conformanceCase: ConformanceCase
    public let outcome: CaseOutcome
    /// The conditions of the run that differ from the title of the case.
    public let remarks: [String]
    /// The time that it took.
    public let duration: Duration
    /// The seed of the random choices; the same seed gives the same choices.
    public let seed: UInt64
}

/// The outcome of a case.
public enum CaseOutcome: Hashable, Sendable {
    /// The rule holds.
    case passed
    /// The rule was broken, or another error occurred. The text names the check, the value that was found and the
    /// expected one.
    case failed(String)
    /// The backend declares that it does not make these promises, and refused at open a caller that required them.
    case unsupported(String)
    /// This machine, this build or this harness cannot try it, for this reason.
    case skipped(String)
    /// The task that ran the case was cancelled before the case had ended, which says nothing about the rule.
    case interrupted

    /// The word for scripts: `passed`, `failed`, `unsupported`, `skipped` or `interrupted`.
    public var word: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .unsupported: "unsupported"
        case .skipped: "skipped"
        case .interrupted: "interrupted"
        }
    }

    /// The message about the outcome; nil for ``passed`` and ``interrupted``.
    public var message: String? {
        switch self {
        case .passed, .interrupted: nil
        case .failed(let text), .unsupported(let text), .skipped(let text): text
        }
    }
}

extension ConformanceCase {
    /// Tests the rule on a backend. If the task is cancelled meanwhile, the outcome is ``CaseOutcome/interrupted``.
    ///
    /// - Parameters:
    ///   - harness: The access to the backend.
    ///   - seed: The seed of the random choices; nil for a random one. The result names it.
    ///   - timeout: The time that the case may take; nil for its own ``timeLimit``.
    public func run(
        on harness: any ConformanceHarness, seed: UInt64? = nil, timeout: Duration? = nil
    ) async -> CaseResult {
        let timeLimit = timeout ?? timeLimit
        let seed = seed ?? UInt64.random(in: 1...UInt64.max)
        let context = CaseContext(harness: harness, seed: Seed(rawValue: seed), fault: fault)
        let clock = ContinuousClock()
        let began = clock.now
        let outcome: CaseOutcome
        do {
            if let refusal = try await refusedPromises(in: context) {
                outcome = .unsupported(refusal)
            } else {
                // A case that hangs ends at its limit.
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
        // Limit the time for ending the groups too, because a faulty backend may hang there.
        do { try await withTimeout(TestTimeout.usual, "the groups of the case end") { await context.end() } } catch {}
        return CaseResult(
            conformanceCase: self, outcome: outcome, remarks: context.remarks, duration: began.duration(to: clock.now),
            seed: seed)
    }

    /// Returns the promises of the case that the backend does not make, after checking that it refuses a caller that
    /// requires them; nil when it makes all of them.
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
            let tried = context.harness.promisesOfParticipants.map(\.rawValue)
            let left = missing.map(\.0).filter { !tried.contains($0) }
            return left.isEmpty ? nil : "not promised: " + left.sorted().joined(separator: ", ")
        }
    }
}
