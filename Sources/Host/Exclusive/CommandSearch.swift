internal import Glibc

/// Where a command is, looked for as the shell does.
enum CommandSearch {
    /// Why a command cannot be started: the status and a line for people.
    struct Failure: Error, Hashable {
        let status: Int32
        let message: String
    }

    /// Makes sure that a command can be started, before anything is owned for it.
    static func check(_ name: String, path: String?) throws(Failure) {
        let places = name.contains("/") ? [name] : folders(in: path).map { $0 + "/" + name }
        var isThere = false
        for place in places {
            var status = stat()
            guard stat(place, &status) == 0 else { continue }
            isThere = true
            if status.st_mode & S_IFMT == S_IFREG, access(place, X_OK) == 0 { return }
        }
        throw isThere
            ? Failure(status: ExclusiveStatus.notExecutable, message: "“\(name)” cannot be executed")
            : Failure(status: ExclusiveStatus.notFound, message: "“\(name)” was not found")
    }

    /// An empty part of the path is the directory that the program was called in; without a path, it is the system's.
    private static func folders(in path: String?) -> [String] {
        (path ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "." : String($0)
        }
    }
}
