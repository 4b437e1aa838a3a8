internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Platform
internal import ProgramOutput

/// The socket at which the host takes pushes, a ``PushLine`` each. The answer is a line too:
///
/// ```
/// OK <revision>\n   |   ERROR <code> <text>\n
/// ```
enum PushSocket {
    /// Begins to listen. The caller must be the group's host: an earlier listener at the path belonged to an earlier
    /// host.
    static func start(at path: String, _ queue: PushQueue) throws(SystemCallError) -> RequestServer {
        try RequestServer.start("push-socket", at: StreamListener(path: path), rules: rules) { line in
            await answer(line, queue)
        }
    }

    static let rules = RequestServer.Rules(
        terminator: PushLine.terminator, requestByteCount: PushLine.byteCount, isPersistent: true,
        user: FileStatus.currentUser,
        tooLong: error("tooLong", "A line has at most \(PushLine.byteCount) bytes."),
        busy: error("busy", "Too many are connected."))

    static func answer(_ line: [UInt8], _ queue: PushQueue) async -> [UInt8] {
        let push: Push
        do throws(PushLine.Invalid) {
            push = try PushLine.push(line)
        } catch {
            return Self.error("invalid", error.text)
        }
        do throws(SharedCoreError) {
            return Array("OK \(try await queue.send(push))\n".utf8)
        } catch {
            return Self.error("\(error.code)", error.text())
        }
    }

    private static func error(_ code: String, _ text: String) -> [UInt8] {
        Array("ERROR \(code) \(ValueText.oneLine(text))\n".utf8)
    }
}
