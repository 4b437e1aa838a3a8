public import CoreAPI
internal import FileNotifyBackend
internal import Platform

extension HubEndpoint {
    /// Where the hub of a group of this machine is when nobody says otherwise: a socket in the directory that the system
    /// gives the user for such things, by a name that every process makes of the group's directory; in the group's
    /// directory where there is none.
    ///
    /// - Parameters:
    ///   - groupDirectory: The absolute path of the group's directory.
    ///   - runtimeDirectory: What `XDG_RUNTIME_DIR` says.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when the path is too long for a socket.
    public static func standard(
        forGroup groupDirectory: String, runtimeDirectory: String?
    ) throws(SharedCoreError) -> HubEndpoint {
        let directory = RuntimeDirectory.path(ofGroup: groupDirectory, runtimeDirectory: runtimeDirectory)
        return try HubEndpoint("ipc://\(directory)/hub")
    }

    /// Makes sure that the hub at a socket of this machine is this user's, or root's: in a directory to which another user
    /// may write, that user's program could listen in its place. A hub itself takes no directory but its own.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the directory or a socket is another user's or open to others.
    func requireTrusted() throws(SharedCoreError) {
        guard case .ipc(let path) = self else { return }
        let (directory, name) = HubLock.parts(ofSocket: path)
        try PrivateDirectory.requireTrusted(directory, [name, name + Self.streamSuffix])
    }
}
