internal import ArgumentParser
internal import ProgramOutput

/// The arguments of this program, as texts for the parser of arguments and as bytes for values.
///
/// The parser knows only texts. For an argument that is not UTF-8 it gets a placeholder, which contains a NUL, as no
/// real argument can. An option of the type ``ArgumentBytes`` replaces the placeholder by the bytes. Everywhere else a
/// placeholder is refused.
struct CommandArguments {
    /// The arguments, with placeholders for those that are not UTF-8.
    let texts: [String]
    /// The placeholders and their arguments.
    private let standIns: [(text: String, bytes: [UInt8])]

    init(_ arguments: [[UInt8]]) {
        var texts: [String] = []
        var standIns: [(text: String, bytes: [UInt8])] = []
        var isBehindTerminator = false
        for argument in arguments {
            if let text = String(validating: argument, as: UTF8.self) {
                isBehindTerminator = isBehindTerminator || text == "--"
                texts.append(text)
                continue
            }
            let name = isBehindTerminator ? [] : Self.optionName(of: argument)
            let bytes = Array(argument.dropFirst(name.count))
            let standIn = ArgumentBytes.standIn(for: bytes, number: standIns.count)
            standIns.append((standIn, bytes))
            texts.append(String(decoding: name, as: UTF8.self) + standIn)
        }
        self.texts = texts
        self.standIns = standIns
    }

    /// Returns the beginning of a placeholder by which the parser distinguishes an option from a value: `--name=` if
    /// only the option's value is not UTF-8, else the first character.
    private static func optionName(of argument: [UInt8]) -> [UInt8] {
        guard argument.first == UInt8(ascii: "-") else { return [] }
        guard let end = argument.firstIndex(of: UInt8(ascii: "=")), argument[..<end].allSatisfy({ $0 < 0x80 }) else {
            return [UInt8(ascii: "-")]
        }
        return Array(argument[...end])
    }

    /// Refuses a parsed command if one of its text arguments is not UTF-8.
    func check(_ command: any ParsableCommand) throws(CommandFailure) {
        let taken = Set((command as? any TakesBytes)?.values.compactMap(\.number) ?? [])
        guard let standIn = standIns.enumerated().first(where: { !taken.contains($0.offset) })?.element else { return }
        throw .usage(refusal(of: [standIn.bytes]))
    }

    /// Returns the parser's error message with the given arguments, escaped, in place of the placeholders.
    func message(_ message: String) -> String {
        guard !standIns.isEmpty else { return message }
        let shown = standIns.reduce(message) { message, standIn in
            message.replacing(standIn.text, with: ProgramText.escaped(standIn.bytes))
        }
        return shown + "\nsharedcore: " + refusal(of: standIns.map(\.bytes))
    }

    private func refusal(of arguments: [[UInt8]]) -> String {
        "not UTF-8: " + arguments.map { "“\(ProgramText.escaped($0))”" }.joined(separator: ", ")
            + "; keys, names, ids and options are text, only values may be any bytes"
    }
}

/// A command with arguments that may be any bytes.
protocol TakesBytes {
    /// These arguments.
    var values: [ArgumentBytes] { get }
}

/// An argument that is used as bytes.
struct ArgumentBytes: ExpressibleByArgument, Hashable, Sendable {
    let bytes: [UInt8]
    /// The index of the placeholder; nil for an argument that is text.
    let number: Int?

    init(argument: String) {
        let parts = argument.split(separator: Self.mark, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, let number = Int(parts[1]) else {
            (bytes, self.number) = (Array(argument.utf8), nil)
            return
        }
        let digits = Array(parts[2].utf8)
        bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
        }
        self.number = number
    }

    /// Returns a placeholder for bytes, which the parser passes on. It contains a NUL, which no argument can contain.
    static func standIn(for bytes: [UInt8], number: Int) -> String {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(mark)\(number)\(mark)\(digits)"
    }

    private static let mark: Character = "\0"

    /// The bytes for people.
    var shown: String { ProgramText.escaped(bytes) }
}
