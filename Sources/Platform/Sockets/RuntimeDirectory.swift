internal import CoreAPI

/// The directory of a group's sockets, under a name that every process derives from the group's directory.
package enum RuntimeDirectory {
    /// Returns the directory for the sockets of a group: a separate one in the user's runtime directory, otherwise the
    /// group's directory.
    ///
    /// - Parameters:
    ///   - groupDirectory: The absolute path of the group's directory.
    ///   - runtimeDirectory: The value of `XDG_RUNTIME_DIR`; a value that is no absolute path counts as unset.
    package static func path(ofGroup groupDirectory: String, runtimeDirectory: String?) -> String {
        guard let runtimeDirectory, runtimeDirectory.isAbsolutePath else { return groupDirectory }
        let place = runtimeDirectory.utf8.last == UInt8(ascii: "/") ? runtimeDirectory : runtimeDirectory + "/"
        return "\(place)sharedcore/\(hash(of: groupDirectory))"
    }

    /// Returns the FNV-1a hash of a text, 64 bits in hexadecimal: the same in every process.
    ///
    /// Source: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
    private static func hash(of text: String) -> String {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }.hexadecimal
    }
}
