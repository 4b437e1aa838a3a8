internal import CLinux
internal import Glibc

/// One end of a connection between two processes of this machine, which keeps messages apart and can carry descriptors.
/// No call of it blocks.
package final class MessageSocket: Sendable {
    /// The result of one read of the connection.
    package enum Arrival: Sendable {
        /// A message, with its attached descriptors.
        case message([UInt8], [OpenFile])
        /// A message that was longer than the limit; it was dropped.
        case tooLong
        case nothing
        /// The other end is closed.
        case end
    }

    private let file: OpenFile

    private init(_ descriptor: Int32, path: String) {
        file = OpenFile(owning: descriptor, path: path)
    }

    /// Connects to the program that listens at a path, which must be this user's or root's.
    ///
    /// - Throws: Also `EACCES` when it is another user's.
    package convenience init(connectingTo path: String) throws(SystemCallError) {
        self.init(try SystemCall.negated("connect", at: path) { clinux_connect_for_messages(path) }, path: path)
        let owner = try peer().user
        guard owner == FileStatus.currentUser || owner == 0 else {
            throw SystemCallError("connect", number: EACCES, at: path)
        }
    }

    /// Listens at a path, which must not exist yet.
    package convenience init(listeningAt path: String) throws(SystemCallError) {
        self.init(try SystemCall.negated("bind", at: path) { clinux_listen_for_messages(path) }, path: path)
    }

    /// The descriptor to poll for reading.
    package var descriptor: Int32 { file.descriptor }

    /// Returns the next connection to a listening socket; nil if none waits.
    package func accept() throws(SystemCallError) -> MessageSocket? {
        let result = clinux_accept(descriptor)
        if result == -EAGAIN { return nil }
        if result < 0 { throw SystemCallError("accept4", number: -result, at: file.path) }
        return MessageSocket(result, path: file.path)
    }

    /// Returns the user and the process that created the other end.
    package func peer() throws(SystemCallError) -> (user: UInt32, process: Int32) {
        var user: uid_t = 0
        var process: pid_t = 0
        try SystemCall.negated("getsockopt(SO_PEERCRED)", at: file.path) { clinux_peer(descriptor, &user, &process) }
        return (user, process)
    }

    /// Sends a message, with duplicates of descriptors: 253 at most.
    ///
    /// - Throws: Also if the other end has not read for long and accepts no more.
    package func send(_ bytes: [UInt8], with files: [OpenFile] = []) throws(SystemCallError) {
        try withExtendedLifetime(files) { () throws(SystemCallError) in
            let descriptors = files.map(\.descriptor)
            try SystemCall.negated("sendmsg", at: file.path) {
                clinux_send_message(descriptor, bytes, bytes.count, descriptors, descriptors.count)
            }
        }
    }

    /// Takes the next message, of at most `count` bytes. Of the descriptors that came with it those above `fileCount` are closed.
    package func receive(upTo count: Int, files fileCount: Int = 1) -> Arrival {
        var bytes = [UInt8](repeating: 0, count: count)
        var carried = [Int32](repeating: -1, count: fileCount)
        var carriedCount = 0
        var result = clinux_receive_message(descriptor, &bytes, count, &carried, fileCount, &carriedCount)
        while result == -EINTR {
            result = clinux_receive_message(descriptor, &bytes, count, &carried, fileCount, &carriedCount)
        }
        // These references close the received files on every path, including errors.
        let files = carried.prefix(carriedCount).map { OpenFile(owning: $0, path: "received") }
        if result > 0 { return .message(Array(bytes.prefix(Int(result))), files) }
        if result == -EAGAIN { return .nothing }
        if result == -EMSGSIZE { return .tooLong }
        // An empty message cannot be distinguished from the end, and no peer sends one. A failed connection has ended.
        return .end
    }
}

/// One message to a socket that another process reads.
package enum Datagram {
    /// Sends a datagram.
    ///
    /// - Parameters:
    ///   - address: The socket's path, or its abstract name after an `@`.
    ///   - seconds: The time to wait while its reader's queue is full. Blocks unless it is 0.
    package static func send(
        _ bytes: [UInt8], to address: String, waiting seconds: Int32 = 0
    ) throws(SystemCallError) {
        try SystemCall.negated("sendto", at: address) { clinux_send_datagram(address, bytes, bytes.count, seconds) }
    }
}
