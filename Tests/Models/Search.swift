/// A design as states and steps, small enough that each state can be visited.
package protocol Model: Sendable {
    associatedtype State: Hashable
    associatedtype Step: Hashable & CustomStringConvertible

    var initial: State { get }

    /// Returns everything that can happen next, in an order that depends on the state alone.
    func steps(in state: State) -> [Step]

    /// Takes a step, and notes the rule that it breaks and the landmarks that it reaches.
    func take(_ step: Step, in state: inout State, noting findings: inout Findings)
}

/// The rule that the steps of a search have broken, and the landmarks that they have reached.
package struct Findings {
    /// The rule that was broken first, and how.
    package private(set) var violation: String?
    /// The landmarks that the search has reached. A rule proves nothing about a state that is never reached.
    package private(set) var landmarks: Set<String> = []

    package mutating func breaks(_ rule: String, _ sentence: @autoclosure () -> String) {
        if violation == nil { violation = "\(rule): \(sentence())" }
    }

    package mutating func reaches(_ landmark: String) {
        landmarks.insert(landmark)
    }
}

/// A breadth-first search through all states of a model, which ends at the first broken rule: so its trace is a shortest one.
///
/// The order of visits, and with it every count and trace, depends on the model alone.
package struct Search<Subject: Model> {
    package struct Report {
        /// The number of different states.
        package var stateCount = 0
        /// The number of steps that were taken in them.
        package var stepCount = 0
        /// The number of steps from the first state to the farthest.
        package var depth = 0
        /// True if every state was visited. False if the search ended at a broken rule or at the limit.
        package var isComplete = false
        /// The first violation, with its circumstances; nil if there was none.
        package var violation: String?
        /// The shortest way to it.
        package var trace: [Subject.Step] = []
        /// The different steps that were taken.
        package var stepsTaken: Set<Subject.Step> = []
        package var landmarks: Set<String> = []
    }

    private let model: Subject
    private let limit: Int

    /// - Parameter limit: The number of states after which the search gives up.
    package init(_ model: Subject, limit: Int = 20_000_000) {
        self.model = model
        self.limit = limit
    }

    package func run() -> Report {
        var report = Report()
        var findings = Findings()
        // States are numbered by their first visit. Each except the first was reached from an earlier one by a step.
        var origins: [(state: Int32, step: Subject.Step)] = []
        var seen: Set<Subject.State> = [model.initial]
        var frontier: [(state: Subject.State, number: Int32)] = [(model.initial, 0)]
        while !frontier.isEmpty, seen.count < limit {
            var next: [(state: Subject.State, number: Int32)] = []
            for (state, number) in frontier {
                for step in model.steps(in: state) {
                    report.stepCount += 1
                    report.stepsTaken.insert(step)
                    var later = state
                    model.take(step, in: &later, noting: &findings)
                    if findings.violation != nil {
                        report.trace = Self.trace(to: number, in: origins) + [step]
                        report.violation = findings.violation
                        report.landmarks = findings.landmarks
                        report.stateCount = seen.count
                        return report
                    }
                    guard seen.insert(later).inserted else { continue }
                    origins.append((number, step))
                    next.append((later, Int32(origins.count)))
                }
            }
            if !next.isEmpty { report.depth += 1 }
            frontier = next
        }
        report.landmarks = findings.landmarks
        report.stateCount = seen.count
        report.isComplete = frontier.isEmpty
        return report
    }

    private static func trace(to number: Int32, in origins: [(state: Int32, step: Subject.Step)]) -> [Subject.Step] {
        var trace: [Subject.Step] = []
        var number = Int(number)
        while number > 0 {
            let origin = origins[number - 1]
            trace.append(origin.step)
            number = Int(origin.state)
        }
        return trace.reversed()
    }
}

/// A model as the program and the tests run it: the design, which must break no rule, and its mutations, each of which
/// must break one.
package struct ModelCase: Sendable {
    package struct Result: Sendable {
        package let stateCount: Int
        package let stepCount: Int
        package let depth: Int
        package let isComplete: Bool
        package let violation: String?
        package let trace: [String]
        /// The landmarks that the design did not reach.
        package let missing: [String]
    }

    /// The model and its setting, such as "resting: a freeze".
    package let name: String
    /// The protection that the model lacks; nil for the design itself.
    package let mutation: String?
    package let run: @Sendable () -> Result
    /// True for a case with so many states that only `make at-length` runs it.
    package let isLong: Bool

    /// - Parameter landmarks: The landmarks that the design has to reach. A mutation need not reach them.
    package init<Subject: Model>(
        _ name: String, _ model: Subject, lacking mutation: String? = nil, reaching landmarks: [String] = [],
        limit: Int = 20_000_000, isLong: Bool = false
    ) {
        self.name = name
        self.mutation = mutation
        self.isLong = isLong
        run = {
            let report = Search(model, limit: limit).run()
            return Result(
                stateCount: report.stateCount, stepCount: report.stepCount, depth: report.depth,
                isComplete: report.isComplete, violation: report.violation, trace: report.trace.map(\.description),
                missing: mutation == nil ? landmarks.filter { !report.landmarks.contains($0) } : [])
        }
    }

    /// Returns true if the design broke no rule and was searched completely, or if the mutation was found.
    package func isAsItShouldBe(_ result: Result) -> Bool {
        mutation == nil
            ? result.isComplete && result.violation == nil && result.missing.isEmpty : result.violation != nil
    }
}
