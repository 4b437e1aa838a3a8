internal import Platform
internal import ProgramOutput

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

    /// Changes no text.
    static let none = Paint(isOn: false)

    let isOn: Bool

    /// Returns the colours for standard output: if it is a terminal with colours and NO_COLOR is not set
    /// (no-color.org), else none.
    static func forOutput(in environment: [String: String]) -> Paint {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Paint(isOn: !isRefused && environment["TERM"] != "dumb" && StandardStream.output.isTerminal)
    }

    func `in`(_ color: Color, _ text: String) -> PaintedText {
        PaintedText(text, isOn && color != .plain ? color.rawValue : nil)
    }

    func dim(_ text: String) -> PaintedText { PaintedText(text, isOn ? Self.faint : nil) }

    private static let faint = 2
}

/// A text with colours that this program sets.
///
/// The colours are stored separately from the text, so that foreign text cannot contain its own.
struct PaintedText: Hashable, Sendable, ExpressibleByStringLiteral {
    private struct Piece: Hashable, Sendable {
        let text: String
        /// The parameter of the terminal sequence in front of it (ECMA-48, SGR); nil for nothing.
        let rendition: Int?
    }

    private var pieces: [Piece]

    fileprivate init(_ text: String, _ rendition: Int?) {
        pieces = [Piece(text: text, rendition: rendition)]
    }

    init(stringLiteral value: String) { self.init(value, nil) }

    static func + (left: PaintedText, right: PaintedText) -> PaintedText {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    /// The text for a terminal: the colours, and the text as ``ProgramText/columns(_:)`` shows it.
    var shown: String {
        pieces.map { piece in
            let text = ProgramText.columns(piece.text)
            return piece.rendition.map { "\u{1b}[\($0)m\(text)\u{1b}[0m" } ?? text
        }.joined()
    }
}
