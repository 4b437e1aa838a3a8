internal import CoreAPI
internal import Platform

/// Finds plugins. Their code runs with this user's rights, so only this user and root may be able to change their
/// files, or the directories on the path to them.
enum PluginDirectory {
    /// A process that has more rights than its caller, such as a setuid program, trusts only files of root.
    private static var owners: [UInt32] { OwnProcess.hasMoreRightsThanCaller ? [0] : [FileStatus.currentUser, 0] }

    /// Returns the path of a plugin without symbolic links; nil if there is none. No other user can make it refer to
    /// another file.
    ///
    /// - Throws: `forbidden`.
    static func path(of name: String, in directory: String) throws(SharedCoreError) -> String? {
        let path = "\(directory)/\(name)"
        let settled: SettledPath
        switch try wrapping({ () throws(SystemCallError) in try Directory.settle(path) }) {
        case .found(let found): settled = found
        case .foreignLink(let owner): throw refused("is reached by a symbolic link of user \(owner)", path)
        }
        let status: FileStatus
        do throws(SystemCallError) {
            status = try FileStatus(ofPath: settled.path)
        } catch {
            if error.isAbsent || error.isNotDirectory { return nil }
            throw SharedCoreError(error)
        }
        if let (place, status) = settled.changeable {
            throw refused(
                "is in the directory \(place) of user \(status.owner) with mode \(String(status.permissions, radix: 8))",
                path)
        }
        switch status.objection(owners: owners, forbidding: 0o022) {
        case nil: return settled.path
        case .notRegular: throw refused("is no regular file", path)
        case .foreign(let owner): throw refused("belongs to user \(owner)", path)
        case .open(let permissions): throw refused("has mode \(String(permissions, radix: 8))", path)
        }
    }

    /// Returns the names of the files in a directory; none if it does not exist.
    static func files(in path: String) throws(SharedCoreError) -> [String] {
        do throws(SystemCallError) {
            guard case .found(let directory) = try Directory.follow(path) else { return [] }
            return try directory.names()
        } catch {
            if error.isAbsent { return [] }
            throw SharedCoreError(error)
        }
    }

    private static func wrapping<Value>(
        _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) { return try body() } catch { throw SharedCoreError(error) }
    }

    private static func refused(_ problem: String, _ path: String) -> SharedCoreError {
        SharedCoreError(
            .forbidden,
            "The plugin \(problem), and its code would act as this user. No user but \(FileStatus.currentUser) and root may be "
                + "able to change it.", at: path)
    }
}
