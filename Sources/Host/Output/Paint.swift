internal import Glibc

/// Colours for people at a terminal.
struct Paint: Hashable, Sendable {
    enum Color: Int, CaseIterable, Hashable, Sendable {
        case plain = 39
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case magenta = 35
    }

    /// Leaves texts as they are.
    static let none = Paint(isOn: false)

    let isOn: Bool

    /// Whether to paint standard output: it is a terminal that has colours, and nobody has said NO_COLOR (no-color.org).
    static func forOutput(in environment: [String: String]) -> Paint {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Paint(isOn: !isRefused && environment["TERM"] != "dumb" && isatty(STDOUT_FILENO) == 1)
    }

    func `in`(_ color: Color, _ text: String) -> String {
        isOn && color != .plain ? Self.sequence(color.rawValue) + text + Self.sequence(Self.reset) : text
    }

    func dim(_ text: String) -> String {
        isOn ? Self.sequence(Self.faint) + text + Self.sequence(Self.reset) : text
    }

    private static let faint = 2
    private static let reset = 0

    /// All that paints, which change nothing but colours.
    static let sequences = ([faint, reset] + Color.allCases.map(\.rawValue)).map(sequence)

    private static func sequence(_ number: Int) -> String { "\u{1b}[\(number)m" }
}
