/// Searches for a program as the shell does.
package enum ProgramSearch {
    /// The result of a search.
    package enum Outcome: Hashable, Sendable {
        case found([UInt8])
        /// There is a file of that name, which cannot be executed.
        case notExecutable
        case notFound
    }

    /// Looks for a program. Names and paths are bytes.
    ///
    /// - Parameters:
    ///   - name: Its name, or a path with a “/”.
    ///   - path: The directories to look in, with colons between them; nil for the system's.
    package static func find(_ name: [UInt8], path: [UInt8]?) -> Outcome {
        let separator = UInt8(ascii: "/")
        let places = name.contains(separator) ? [name] : folders(in: path).map { $0 + [separator] + name }
        var isThere = false
        for place in places {
            guard let status = try? FileStatus(behindPath: place) else { continue }
            isThere = true
            if status.isRegularFile, FileStatus.isExecutable(place) { return .found(place) }
        }
        return isThere ? .notExecutable : .notFound
    }

    /// Returns the directories of a search path. Nil stands for the path of the system. An empty part means the working
    /// directory.
    private static func folders(in path: [UInt8]?) -> [[UInt8]] {
        (path ?? Array("/bin:/usr/bin".utf8)).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { $0.isEmpty ? [UInt8(ascii: ".")] : Array($0) }
    }
}
