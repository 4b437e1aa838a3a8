public import CoreAPI

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
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else {
            return try HubEndpoint("ipc://\(groupDirectory)/hub")
        }
        let place = runtimeDirectory.hasSuffix("/") ? runtimeDirectory : runtimeDirectory + "/"
        return try HubEndpoint("ipc://\(place)sharedcore/\(hash(of: groupDirectory))/hub")
    }

    /// The FNV-1a hash of a text, 64 bits in hexadecimal: the same in every process.
    ///
    /// Source: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
    private static func hash(of text: String) -> String {
        let value = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
