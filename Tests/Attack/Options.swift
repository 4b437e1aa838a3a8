internal import Platform

/// The parts of the program to attack, and the form of the attack.
struct Options: Sendable {
    struct Problem: Error {
        let text: String
    }

    /// The extent of the attack, and its time.
    enum Form: Sendable {
        /// A sample in at most two minutes.
        case brief
        /// All scenarios, each with as many cases as fit into ten minutes in all.
        case timed
        /// All cases, without a time limit.
        case whole
    }

    /// The extent of the attack.
    private(set) var form = Form.timed
    /// The prefixes of the cases that need not be possible here; any other case that cannot run is a failure.
    private(set) var allowedMissing: [String] = []
    private(set) var isListing = false
    /// True to run only cases that need a build with fail points, false to run only the others; nil for all cases.
    private(set) var usesFailPoints: Bool?
    /// The prefixes of the names that are to run, such as `sync` or `faults-commit.fdatasync.1.EIO`; all run where none
    /// is given.
    private(set) var only: [String] = []
    private(set) var seed: UInt64?
    /// The attacked program.
    private(set) var program: String

    init(_ words: [String]) throws {
        program = try OwnProgram.sibling("sharedcore")
        var rest = words[...]
        func value(of option: String) throws -> String {
            guard let word = rest.popFirst() else { throw Problem(text: "\(option) needs a value.") }
            return word
        }
        while let word = rest.popFirst() {
            switch word {
            case "--brief": form = .brief
            case "--whole": form = .whole
            case "--allow-missing": allowedMissing.append(try value(of: word))
            case "--list": isListing = true
            case "--with-fail-points": usesFailPoints = true
            case "--without-fail-points": usesFailPoints = false
            case "--only": only.append(try value(of: word))
            case "--program": program = try value(of: word)
            case "--seed":
                guard let number = UInt64(try value(of: word)) else { throw Problem(text: "--seed is a number.") }
                seed = number
            default:
                throw Problem(
                    text: "“\(word)” is unknown. There are --brief, --whole, --list, --only NAME, --seed N, "
                        + "--allow-missing NAME, --program PATH, --with-fail-points, --without-fail-points."
                )
            }
        }
        for name in allowedMissing + only
        where !Scenario.all.contains(where: { Self.selects(name, $0.name) }) {
            throw Problem(text: "No scenario is named “\(name)”. --list names them.")
        }
    }

    /// Returns true if a case, or any case of a scenario, is to run.
    func selects(_ name: String) -> Bool {
        only.isEmpty || only.contains { Self.selects($0, name) }
    }

    /// Returns true if a case may be left out where it cannot run.
    func allowsMissing(_ name: String) -> Bool {
        allowedMissing.contains { name.hasPrefix($0) }
    }

    private static func selects(_ only: String, _ name: String) -> Bool {
        name.hasPrefix(only) || only.hasPrefix(name + ".")
    }
}
