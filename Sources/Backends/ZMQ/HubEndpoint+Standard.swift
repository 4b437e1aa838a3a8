public import CoreAPI
internal import FileNotifyBackend
internal import Platform

extension HubEndpoint {
    /// Where the hub of a group of this machine is when nobody says otherwise: a socket in the directory that the
    /// system gives the user for such things, by a name that every process makes of the group's directory; in the
    /// group's directory where there is none.
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

    /// Makes sure that the hub at a socket of this machine is this user's: in a directory to which another user may
    /// write, that user's program could listen in its place, and a hub cuts the connections of users other than its own
    /// without a word.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the directory is another user's than this one or root, or open
    ///   to others, or when a socket is another user's.
    func requireTrusted() throws(SharedCoreError) {
        guard case .ipc(let path) = self else { return }
        let (directory, name) = HubLock.parts(ofSocket: path)
        try PrivateDirectory.requireTrusted(directory, [name, name + Self.streamSuffix])
        guard let owner = (try? FileStatus(ofPath: path))?.owner, owner != FileStatus.currentUser else { return }
        throw SharedCoreError(.forbidden, "The hub is the user \(owner)'s, and lets in no other user.", at: path)
    }
}
