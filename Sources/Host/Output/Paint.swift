internal import Glibc

/// Colours for people at a terminal.
struct Paint: Hashable, Sendable {
    enum Color: Int, Hashable, Sendable {
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
        isOn && color != .plain ? "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m" : text
    }

    func dim(_ text: String) -> String {
        isOn ? "\u{1b}[2m\(text)\u{1b}[0m" : text
    }
}
