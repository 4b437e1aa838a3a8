internal import Coordination
internal import CoreAPI

/// The processes of participants that share one and only play to have their own: nothing can be seen of them, and they
/// are not killed.
struct UnseenProcesses: ProcessControl {
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        .impossible("its process is only played")
    }
}
