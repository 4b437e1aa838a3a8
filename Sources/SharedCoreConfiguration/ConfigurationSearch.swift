internal import CoreAPI
package import Platform

/// Finds the configuration file: the named one, else the first existing one of the usual places.
package struct ConfigurationSearch {
    /// The file that the caller names, and the source of that name; nil if the caller names none.
    private let named: (path: String, source: String)?
    private let environment: [String: String]
    /// The paths that are tried if no file is named, before the user's file.
    private let places: [String]

    /// Makes the search of a program that a user calls in a directory.
    ///
    /// - Parameter flag: The value of `--config`; nil if it is not given.
    package init(flag: String?, environment: [String: String]) {
        named = flag.map { ($0, "--config") }
        self.environment = environment
        places = [Self.fileInWorkingDirectory]
    }

    /// Makes the search of an application, which may be started anywhere: the working directory is not searched.
    ///
    /// - Parameter file: The path that the application names; nil for none.
    package init(file: String?, environment: [String: String]) {
        named = file.map { ($0, "file") }
        self.environment = environment
        places = []
    }

    /// The file that ``init(flag:environment:)`` looks for without a name.
    static let fileInWorkingDirectory = "sharedcore.yaml"

    /// True if the caller or the environment names the file.
    var isNamed: Bool { named != nil || !(environment[EnvironmentLayer.fileVariable] ?? "").isEmpty }

    /// Returns the path and the bytes of the file; nil if none was named and none exists.
    package func find() throws(ConfigurationFailure) -> (path: String, content: [UInt8])? {
        if let named { return try find(named.path, namedBy: named.source) }
        if let path = environment[EnvironmentLayer.fileVariable], !path.isEmpty {
            return try find(path, namedBy: EnvironmentLayer.fileVariable)
        }
        for path in places + [personal].compactMap(\.self) {
            if let content = try content(of: path) { return (path, content) }
        }
        return nil
    }

    /// The file of the user, for all directories.
    private var personal: String? {
        UserDirectory.configuration.path(in: environment).map { $0 + "/sharedcore/config.yaml" }
    }

    private func find(
        _ path: String, namedBy source: String
    ) throws(ConfigurationFailure) -> (path: String, content: [UInt8]) {
        guard !path.isEmpty, !path.utf8.contains(0), let content = try content(of: path) else {
            throw ConfigurationFailure(
                at: source, "there is no file “\(path)”; it must name a YAML or JSON file.")
        }
        return (path, content)
    }

    /// Returns the bytes of a file, at most one more than a configuration may have; nil if it does not exist.
    private func content(of path: String) throws(ConfigurationFailure) -> [UInt8]? {
        let failure: ConfigurationFailure
        do throws(SystemCallError) {
            let isOwnDescriptor = Self.descriptors.contains { path.hasPrefix($0) }
            // A FIFO in place of the file could block the reader for ever.
            let following =
                isOwnDescriptor
                ? .found(try SmallFile.open(path)) : try OpenFile.follow(path, lastIsLink: true)
            switch following {
            case .found(let file):
                guard let found = Self.problem(with: try file.status(), at: path, isOwnDescriptor) else {
                    return try SmallFile.read(file, upTo: ConfigurationFile.maximumByteCount + 1)
                }
                failure = found
            case .foreignLink(let owner):
                failure = ConfigurationFailure(
                    .forbidden, at: path,
                    "is reached by a symbolic link that belongs to user \(owner), who could redirect it; remove the "
                        + "link, or name the file by another path.")
            }
        } catch {
            if error.isAbsent { return nil }
            throw ConfigurationFailure(SharedCoreError(error).code, at: path, "cannot be read: \(error.sentence)")
        }
        throw failure
    }

    /// The path for no file: nothing is read.
    package static let nothing = "/dev/null"

    /// The names of files that the caller has opened itself, such as the shell's `<(...)`.
    private static let descriptors = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"]

    /// Returns why a file must not be read; nil if it may be. A configuration names programs to run and sockets to
    /// connect to, so its writer acts with this user's rights. The file must belong to the user or root, and other
    /// users must not be able to write it.
    private static func problem(
        with status: FileStatus, at path: String, _ isOwnDescriptor: Bool
    ) -> ConfigurationFailure? {
        if isOwnDescriptor && status.isPipe || path == Self.nothing { return nil }
        switch status.objection(owners: [FileStatus.currentUser, 0], forbidding: 0o022) {
        case nil: return nil
        case .notRegular:
            return ConfigurationFailure(
                at: path, "is not a regular file, which a configuration file must be; remove it, or name another one.")
        case .foreign(let owner):
            return ConfigurationFailure(
                .forbidden, at: path,
                "belongs to user \(owner), who could make it run any program; a configuration file must belong to "
                    + "user \(FileStatus.currentUser) or to root. Copy it, remove it, or name another one.")
        case .open(let permissions):
            return ConfigurationFailure(
                .forbidden, at: path,
                "has mode \(String(permissions, radix: 8)), so other users could write it and make it run any "
                    + "program. Only its owner may write a configuration file: “chmod go-w \(path)”.")
        }
    }
}

/// Reads a file that the user named: a regular file, or a pipe such as the shell's `<(...)`.
package enum SmallFile {
    /// Opens a file, also behind a symbolic link.
    package static func open(_ path: String) throws(SystemCallError) -> OpenFile {
        try OpenFile(behind: path)
    }

    /// Returns the file's first bytes, at most `count`.
    package static func read(_ path: String, upTo count: Int) throws(SystemCallError) -> [UInt8] {
        try read(open(path), upTo: count)
    }

    /// Returns the first bytes of a file that was opened just now, at most `count`.
    package static func read(_ file: OpenFile, upTo count: Int) throws(SystemCallError) -> [UInt8] {
        try OpenFile.read(from: file.descriptor, upTo: count, at: file.path)
    }
}
