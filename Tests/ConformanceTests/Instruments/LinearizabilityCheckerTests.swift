internal import Testing

@testable internal import CoreAPITesting

/// The checker accepts valid histories and refuses invalid ones.
@Suite("The linearizability checker", .timeLimit(.minutes(10)))
struct LinearizabilityCheckerTests {
    private typealias Call = RegisterOperation.Call

    private static func history(_ calls: [(Call, Int, Int)]) -> [RegisterOperation] {
        calls.map { RegisterOperation(call: $0.0, began: $0.1, ended: $0.2) }
    }

    private static let right: [(String, [RegisterOperation])] = [
        ("nothing", []),
        (
            "one after the other",
            history([(.read(nil), 1, 2), (.write(1), 3, 4), (.read(1), 5, 6), (.delete, 7, 8), (.read(nil), 9, 10)])
        ),
        (
            "a read that overlaps a write sees the old or the new",
            history([(.write(1), 1, 10), (.read(nil), 2, 3), (.read(1), 4, 5)])
        ),
        (
            "two overlapping writes in either order",
            history([(.write(1), 1, 10), (.write(2), 2, 9), (.read(1), 11, 12)])
        ),
        (
            "one of two creators",
            history([
                (.exchange(expected: nil, new: 1, succeeded: true, found: nil), 1, 5),
                (.exchange(expected: nil, new: 2, succeeded: false, found: 1), 2, 6),
            ])
        ),
    ]

    private static let wrong: [(String, [RegisterOperation])] = [
        ("a stale read", history([(.write(1), 1, 2), (.read(nil), 3, 4)])),
        ("a value from nowhere", history([(.read(7), 1, 2)])),
        ("a read that goes back", history([(.write(1), 1, 10), (.read(1), 2, 3), (.read(nil), 4, 5)])),
        (
            "two creators",
            history([
                (.exchange(expected: nil, new: 1, succeeded: true, found: nil), 1, 5),
                (.exchange(expected: nil, new: 2, succeeded: true, found: nil), 2, 6),
            ])
        ),
        (
            "a lost update",
            history([
                (.write(1), 1, 2), (.exchange(expected: 1, new: 2, succeeded: true, found: nil), 3, 6),
                (.exchange(expected: 1, new: 3, succeeded: true, found: nil), 4, 7),
            ])
        ),
        (
            "a failure without a reason",
            history([(.write(1), 1, 2), (.exchange(expected: 1, new: 2, succeeded: false, found: 1), 3, 4)])
        ),
        (
            "a failure that found what never stood there",
            history([
                (.write(1), 1, 2), (.exchange(expected: nil, new: 2, succeeded: false, found: 5), 3, 4),
            ])
        ),
        (
            "a write that comes back after its deletion",
            history([(.write(1), 1, 2), (.delete, 3, 4), (.read(1), 5, 6)])
        ),
    ]

    @Test("It accepts what is linearizable", arguments: right)
    func acceptsRight(what: String, history: [RegisterOperation]) {
        var checker = LinearizabilityChecker()
        let isRight = checker.check(history)
        #expect(isRight)
    }

    @Test("It refuses what is not", arguments: wrong)
    func refusesWrong(what: String, history: [RegisterOperation]) {
        var checker = LinearizabilityChecker()
        let isRight = checker.check(history)
        #expect(!isRight)
    }

    @Test("It carries every possible end of a window into the next one")
    func carriesStates() {
        var checker = LinearizabilityChecker()
        let first = checker.check(Self.history([(.write(1), 1, 10), (.write(2), 2, 9)]))
        #expect(first)
        #expect(checker.possibleStates == [1, 2])
        let second = checker.check(Self.history([(.read(2), 11, 12)]))
        #expect(second)
        #expect(checker.possibleStates == [2])
        let third = checker.check(Self.history([(.read(1), 13, 14)]))
        #expect(!third)
    }
}
