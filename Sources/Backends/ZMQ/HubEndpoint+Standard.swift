public import CoreAPI
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
}
