internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The socket at which the host takes pushes, a line each:
///
/// ```
/// PUSH <call-id>\n   ->   OK <revision>\n   |   ERROR <code> <text>\n
/// ```
enum PushSocket {
    private static let word = "PUSH "

    /// Begins to listen. The caller must be the group's host: a listener that was there before belonged to another one.
    static func start(at path: String, _ queue: PushQueue) throws(SystemCallError) -> RequestServer {
        try RequestServer.start("push-socket", at: StreamListener(path: path), rules: rules) { line in
            await answer(String(validating: line, as: UTF8.self), queue)
        }
    }

    static let rules = RequestServer.Rules(
        terminator: [UInt8(ascii: "\n")], requestByteCount: word.utf8.count + PushID.maximumByteCount + 1,
        isPersistent: true, user: FileStatus.currentUser,
        tooLong: error("tooLong", "A line has at most \(word.utf8.count + PushID.maximumByteCount) bytes."),
        busy: error("busy", "Too many are connected."))

    static func answer(_ line: String?, _ queue: PushQueue) async -> [UInt8] {
        guard let line, line.hasPrefix(word) else {
            return error("invalid", "A line is PUSH, a space and a call-id.")
        }
        // Some write lines as mail does.
        let text = line.dropFirst(word.count)
        guard let callID = PushID.callID(text.last == "\r" ? text.dropLast() : text) else {
            return error("invalid", "A call-id is \(PushID.expectation).")
        }
        do throws(SharedCoreError) {
            return Array("OK \(try await queue.send(callID))\n".utf8)
        } catch {
            return Self.error("\(error.code)", error.sentence)
        }
    }

    private static func error(_ code: String, _ text: String) -> [UInt8] {
        Array("ERROR \(code) \(ValueText.oneLine(text))\n".utf8)
    }
}
