internal import ProgramOutput

/// Why a keeper cannot begin.
struct KeeperFailure: Error, Hashable {
    let status: ExitStatus
    let message: String
}
