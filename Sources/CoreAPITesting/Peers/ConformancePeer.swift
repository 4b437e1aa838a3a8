public import CoreAPI
internal import Glibc

/// The second process of a case: a program of a few lines that calls ``serve()``.
///
/// ```swift
/// @main struct Peer {
///     static func main() async {
///         await ConformancePeer { address, description throws(SharedCoreError) in
///             try await MyGroup.open(address, as: description)
///         }.serve()
///     }
/// }
/// ```
public struct ConformancePeer: Sendable {
    public typealias Opening =
        @Sendable (_ address: String, SessionDescription) async throws(SharedCoreError) -> any SharedGroup
    /// Answers a command that the suite does not know; nil when the program does not know it either.
    public typealias Command =
        @Sendable (_ name: String, _ arguments: [String], any SharedGroup) async throws(SharedCoreError) -> String?

    let open: Opening
    let arm: @Sendable (String) throws(SharedCoreError) -> Void
    let run: Command

    /// - Parameters:
    ///   - arm: Takes the place at which the process stops or dies next, as `<place>:stop` or `<place>:kill`.
    ///   - others: Commands of the program's own.
    ///   - open: Joins the group with an address of ``ConformanceGroup/address``.
    public init(
        arm: @escaping @Sendable (String) throws(SharedCoreError) -> Void = { place throws(SharedCoreError) in
            throw SharedCoreError(.unsupported, "This peer has no fault places.", at: place)
        },
        others: @escaping Command = { _, _, _ in nil }, open: @escaping Opening
    ) {
        self.arm = arm
        self.run = others
        self.open = open
    }

    /// Takes a command from each line of the standard input and answers each with one line, until the input ends.
    public func serve() async {
        let session = PeerSession(self)
        guard Self.answer("ok \(getpid())") else { return }
        var input = InputLines()
        while let line = input.next() {
            let words = line.split(separator: " ").map(String.init)
            guard let command = words.first else { continue }
            if command == "exit" { return }
            let answer: String
            do throws(SharedCoreError) {
                answer = "ok " + (try await session.run(command, Array(words.dropFirst())))
            } catch {
                answer = "error \(error.code) \(error)"
            }
            guard Self.answer(answer) else { return }
        }
    }

    /// Writes one line at once.
    private static func answer(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return write(STDOUT_FILENO, bytes, bytes.count) == bytes.count
    }
}

/// The lines of the standard input. Not by `readLine()`: a peer that a storm of signals had interrupted in it was found to spin
/// there for ever, in `getdelim`.
private struct InputLines {
    private var bytes: [UInt8] = []

    mutating func next() -> String? {
        var searched = 0
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            searched = bytes.count
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}
