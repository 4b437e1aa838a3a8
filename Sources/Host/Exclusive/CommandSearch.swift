internal import Glibc
internal import ProgramOutput

/// Where a command is, looked for as the shell does.
enum CommandSearch {
    /// Why a command cannot be started: the status and a line for people.
    struct Failure: Error, Hashable {
        let status: Int32
        let message: String
    }

    /// Makes sure that a command can be started, before anything is owned for it. Names and paths are bytes.
    static func check(_ name: [UInt8], path: [UInt8]?) throws(Failure) {
        let separator = UInt8(ascii: "/")
        let places = name.contains(separator) ? [name] : folders(in: path).map { $0 + [separator] + name }
        var isThere = false
        for place in places {
            let place = place.map(CChar.init(bitPattern:)) + [0]
            var status = stat()
            guard stat(place, &status) == 0 else { continue }
            isThere = true
            if status.st_mode & S_IFMT == S_IFREG, access(place, X_OK) == 0 { return }
        }
        let shown = "“\(ProgramText.escaped(name))”"
        throw isThere
            ? Failure(status: ExclusiveStatus.notExecutable, message: "\(shown) cannot be executed")
            : Failure(status: ExclusiveStatus.notFound, message: "\(shown) was not found")
    }

    /// An empty part of the path is the directory that the program was called in; without a path, it is the system's.
    private static func folders(in path: [UInt8]?) -> [[UInt8]] {
        (path ?? Array("/bin:/usr/bin".utf8)).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { $0.isEmpty ? [UInt8(ascii: ".")] : Array($0) }
    }
}
