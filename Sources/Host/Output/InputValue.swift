internal import Platform
internal import ProgramOutput

/// A value that a command is given as an argument, or on standard input where the argument is “-”.
enum InputValue {
    /// The value; of standard input at most `limit` bytes and one more, which tells that there are too many.
    static func bytes(_ argument: ArgumentBytes, limit: Int) async throws -> [UInt8] {
        guard argument.bytes == [UInt8(ascii: "-")] else { return argument.bytes }
        return try await Abandonable.run(on: SerialThread(name: "input"), grace: .zero) {
            try StandardStream.input.read(upTo: limit + 1)
        }
    }
}
