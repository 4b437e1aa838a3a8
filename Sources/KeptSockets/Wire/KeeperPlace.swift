/// The directory of a keeper's files, which belongs to its user alone.
package struct KeeperPlace: Hashable, Sendable {
    /// The directory's absolute path.
    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// The variable that tells a Main the path of its keeper's socket.
    package static let socketVariable = "SHAREDCORE_KEEPER"
    /// The variable that tells a Main, by 1, that it is in the background and must not build a user interface (contract
    /// P8).
    package static let backgroundVariable = "SHAREDCORE_BACKGROUND"

    /// The lock that a keeper has for as long as it lives.
    package static let lockName = "keeper.lock"
    package static let socketName = "keeper.socket"
    /// The lock that a Main has from before its own program runs until its process ends.
    package static let mainLockName = "main.lock"
    /// The file with the memory of Main, valid for as long as the machine runs.
    package static let memoryName = "main.state"
    package static let logName = "keeper.log"

    /// The path of the keeper's socket.
    package var socket: String { directory + "/" + Self.socketName }
    package var mainLock: String { directory + "/" + Self.mainLockName }
}
