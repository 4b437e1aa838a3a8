internal import Synchronization

/// With what `exclusive` ends: the status of its command, else why there was none.
final class ExclusiveStatus: Sendable {
    /// sharedcore itself failed, or refused.
    static let refusal: Int32 = 125
    /// The command is there and cannot be executed.
    static let notExecutable: Int32 = 126
    /// The command is not there.
    static let notFound: Int32 = 127

    private let status = Mutex(ExclusiveStatus.refusal)

    var value: Int32 { status.withLock { $0 } }

    func set(_ value: Int32) {
        status.withLock { $0 = value }
    }
}
