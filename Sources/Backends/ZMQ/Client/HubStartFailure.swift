internal import CoreAPI
internal import Platform

/// That a hub could not be started: what the one who tried leaves for all who waited for it, `bootID nanoseconds status
/// message`.
struct HubStartFailure: Hashable, Sendable {
    let at: BootInstant
    let status: Int32
    /// What the program said, in one line.
    let message: String

    /// The statuses that programs of this package end with (`EX_USAGE`, `EX_CONFIG`).
    private static let usage: Int32 = 64
    private static let configuration: Int32 = 78

    /// The failure that has just happened.
    init(status: Int32, message: String) {
        at = SystemClock().now()
        self.status = status
        let lines = message.split(whereSeparator: \.isNewline).map { line in
            line.hasPrefix("sharedcore: ") ? line.dropFirst("sharedcore: ".count) : line
        }
        self.message = lines.joined(separator: " ")
    }

    /// Reads what another has left; nil when there is nothing, or it is of an earlier run of the machine.
    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3)
        guard words.count >= 3, words[0] == ProcessIdentity.current.bootID.description,
            let nanoseconds = UInt64(words[1]), let status = Int32(words[2])
        else { return nil }
        at = BootInstant(nanoseconds: nanoseconds)
        self.status = status
        message = words.count == 4 ? String(words[3]) : ""
    }

    var text: String { "\(ProcessIdentity.current.bootID) \(at.nanoseconds) \(status) \(message)" }

    /// The error for whoever wanted a hub at a socket.
    func error(at path: String) -> SharedCoreError {
        let code: SharedCoreError.Code =
            switch status {
            case Self.configuration: .forbidden
            case Self.usage: .invalidArgument
            default: .unavailable
            }
        return SharedCoreError(
            code,
            "The hub could not be started: "
                + (message.isEmpty ? "its program ended with status \(status)." : message), at: path)
    }
}
