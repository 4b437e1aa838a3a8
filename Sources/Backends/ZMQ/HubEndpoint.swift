public import CoreAPI
internal import FileNotifyBackend
internal import Platform

/// The address of a hub.
///
/// A hub listens at two addresses: this one is for requests, and the one beside it for the stream of updates.
public enum HubEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A socket in the file system, for the processes of one user on one machine: its absolute path.
    case ipc(path: String)
    /// A host and a port. The stream is at the next port, unless the system chooses both (port 0).
    case tcp(host: String, port: UInt16)
    /// A name within this process.
    case inproc(name: String)

    /// The longest path: the system's own limit, less what the stream's name adds.
    public static let maximumPathByteCount = 107 - streamSuffix.utf8.count

    static let streamSuffix = ".news"

    /// Reads an endpoint such as `ipc:///run/user/1000/chat/hub`, `tcp://127.0.0.1:5555` or `inproc://chat`.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument``, saying what would be right.
    public init(_ text: String) throws(SharedCoreError) {
        func refuse(_ why: String) -> SharedCoreError {
            SharedCoreError(
                .invalidArgument,
                "\(why) An endpoint is ipc:// and an absolute path, tcp:// with a host and a port, or inproc:// and a "
                    + "name.", at: text)
        }
        guard let mark = text.range(of: "://") else { throw refuse("The endpoint names no transport.") }
        let rest = String(text[mark.upperBound...])
        switch text[..<mark.lowerBound] {
        case "ipc":
            guard rest.isAbsolutePath, !rest.utf8.contains(0) else { throw refuse("The path must be absolute.") }
            guard rest.utf8.count <= Self.maximumPathByteCount else {
                throw SharedCoreError(
                    .invalidArgument,
                    "The path of a socket has at most \(Self.maximumPathByteCount) bytes, this one has "
                        + "\(rest.utf8.count). Set XDG_RUNTIME_DIR or zmq.endpoint to a shorter one.", at: text)
            }
            self = .ipc(path: rest)
        case "tcp":
            guard let colon = rest.utf8.lastIndex(of: UInt8(ascii: ":")) else { throw refuse("The port is missing.") }
            guard colon > rest.startIndex else { throw refuse("The host is missing.") }
            let port = rest[rest.utf8.index(after: colon)...]
            guard let number = port == "*" ? 0 : UInt16(port), number < .max, port.first != "+" else {
                throw refuse("“\(port)” is no port that another one follows.")
            }
            self = .tcp(host: String(rest[..<colon]), port: number)
        case "inproc":
            guard !rest.isEmpty, rest.utf8.count <= 200 else { throw refuse("The name is missing.") }
            self = .inproc(name: rest)
        case let transport:
            throw refuse("The transport “\(transport)” is unknown.")
        }
    }

    public var description: String {
        switch self {
        case .ipc(let path): "ipc://\(path)"
        case .tcp(let host, let port): "tcp://\(host):\(port == 0 ? "*" : String(port))"
        case .inproc(let name): "inproc://\(name)"
        }
    }

    /// Returns the address of the stream. A client is told the port when the system chose it.
    package func stream(port: UInt16? = nil) -> HubEndpoint {
        switch self {
        case .ipc(let path): .ipc(path: path + Self.streamSuffix)
        case .tcp(let host, let own): .tcp(host: host, port: port ?? (own == 0 ? 0 : own &+ 1))
        case .inproc(let name): .inproc(name: name + Self.streamSuffix)
        }
    }

    /// The address that a hub binds: the library accepts no host names there.
    var bindable: HubEndpoint {
        if case .tcp("localhost", let port) = self { .tcp(host: "127.0.0.1", port: port) } else { self }
    }

    /// True if the connection uses a network, even if only the loopback of this machine.
    var isOverNetwork: Bool {
        if case .tcp = self { true } else { false }
    }

    /// True if only processes of this machine can connect.
    public var isLocal: Bool {
        switch self {
        case .ipc, .inproc: true
        case .tcp(let host, _):
            host == "localhost" || host == "[::1]" || host == "::1" || Self.isLoopback(host)
        }
    }

    /// Returns whether a host is an address of the block 127.0.0.0/8.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
    }
}

extension String {
    /// Returns the first occurrence of a text; the standard library has no such search.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}

extension HubEndpoint {
    /// Returns the default address of the hub of a local group: the socket `sharedcore/HASH/hub` in the user's runtime
    /// directory, where HASH is the hash of the path of the group's directory. Without a runtime directory, it is the
    /// socket `hub` in the group's directory.
    ///
    /// - Parameters:
    ///   - groupDirectory: The absolute path of the group's directory.
    ///   - runtimeDirectory: The value of `XDG_RUNTIME_DIR`; a value that is no absolute path counts as unset.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when the path is too long for a socket.
    public static func standard(
        forGroup groupDirectory: String, runtimeDirectory: String?
    ) throws(SharedCoreError) -> HubEndpoint {
        let directory = RuntimeDirectory.path(ofGroup: groupDirectory, runtimeDirectory: runtimeDirectory)
        return try HubEndpoint("ipc://\(directory)/hub")
    }

    /// Throws unless the hub at a socket of this machine is this user's. In a directory to which another user may
    /// write, that user's program could listen in place of the hub. And a hub of another user would silently close the
    /// connection.
    ///
    /// - Returns: The endpoint with the path without symbolic links. The library resolves its path again for each
    ///   connection, and no other user can redirect this one.
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the directory belongs to a user other than this one or root,
    ///   or is open to others, when a socket is another user's, and when another user can lead the path elsewhere.
    func trusted() throws(SharedCoreError) -> HubEndpoint {
        guard case .ipc(let path) = self else { return self }
        let (directory, name) = Directory.parts(of: path)
        let settled = try PrivateDirectory.trustedPath(directory, [name, name + Self.streamSuffix]).path(of: name)
        if let owner = (try? FileStatus(ofPath: settled))?.owner, owner != FileStatus.currentUser {
            throw SharedCoreError(.forbidden, "The hub is the user \(owner)'s, and lets in no other user.", at: path)
        }
        return try HubEndpoint("ipc://" + settled)
    }
}
