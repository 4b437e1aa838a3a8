internal import Platform

/// What is to be attacked, and how.
struct Options: Sendable {
    struct Problem: Error {
        let text: String
    }

    /// The short form: at most two minutes instead of ten.
    private(set) var isBrief = false
    /// Whether a scenario that could not run here is a failure.
    private(set) var isStrict = false
    private(set) var isListing = false
    /// How the names begin of what is to run, such as `sync` or `faults-commit.fdatasync.1.EIO`.
    private(set) var only: String?
    private(set) var seed: UInt64?
    /// The program that is attacked.
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
            case "--brief": isBrief = true
            case "--strict": isStrict = true
            case "--list": isListing = true
            case "--only": only = try value(of: word)
            case "--program": program = try value(of: word)
            case "--seed":
                guard let number = UInt64(try value(of: word)) else { throw Problem(text: "--seed is a number.") }
                seed = number
            default:
                throw Problem(
                    text:
                        "“\(word)” is unknown. There are --brief, --strict, --list, --only NAME, --seed N, --program PATH."
                )
            }
        }
        if let only, !Scenario.all.contains(where: { Self.selects(only, $0.name) }) {
            throw Problem(text: "No scenario is named “\(only)”. --list names them.")
        }
    }

    /// Whether a case, or any case of a scenario, is to run.
    func selects(_ name: String) -> Bool {
        only.map { Self.selects($0, name) } ?? true
    }

    private static func selects(_ only: String, _ name: String) -> Bool {
        name.hasPrefix(only) || only.hasPrefix(name + ".")
    }
}
