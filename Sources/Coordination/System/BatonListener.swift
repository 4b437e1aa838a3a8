internal import CoreAPI
internal import Platform

/// A socket in a directory of this user, through which this user's processes request batons. A thread of its own serves
/// it.
final class BatonListener: Sendable {
    /// The answer to a message.
    struct Reply {
        let text: [UInt8]
        var files: [OpenFile] = []
    }

    /// The maximum number of open connections without a request. The oldest is closed for a new one.
    private static let maximumConnectionCount = 8

    let path: String
    private let closing: EventCounter
    private let fileCount: Int
    private let answer: @Sendable ([UInt8], [OpenFile]) -> Reply?

    /// Begins to listen on a new socket in the directory, with a thread of its own.
    ///
    /// - Parameters:
    ///   - fileCount: The maximum number of descriptors of a message; further ones are closed.
    ///   - answer: Called on the thread with each message and its descriptors. If it returns no reply, the connection
    ///     is closed.
    ///   - ended: Called on the thread when it no longer listens.
    init(
        takingFiles fileCount: Int = 0, answer: @escaping @Sendable ([UInt8], [OpenFile]) -> Reply?,
        ended: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        self.fileCount = fileCount
        self.answer = answer
        closing = try EventCounter()
        let directory = try BatonDirectory.open()
        let name = "\(OwnProcess.pid)-\(UInt64.random(in: .min ... .max).hexadecimal)"
        path = directory.path + "/" + name
        let listener = try MessageSocket(listeningAt: path)
        do throws(SystemCallError) {
            try OwnedThread.start("sc-baton") { [self] in
                serve(listener)
                _ = try? directory.remove(name)
                ended()
            }
        } catch {
            _ = try? directory.remove(name)
            throw error
        }
    }

    /// Listens no more. Idempotent.
    func close() { closing.raise() }

    private func serve(_ listener: MessageSocket) {
        var connections: [MessageSocket] = []
        while true {
            let ready = Poll.wait(
                for: [closing.descriptor, listener.descriptor] + connections.map(\.descriptor), timeout: nil)
            if ready[0] { return }
            var open: [MessageSocket] = []
            for (connection, isReady) in zip(connections, ready.dropFirst(2)) {
                if !isReady || !isOver(connection) { open.append(connection) }
            }
            connections = open
            guard ready[1], let connection = (try? listener.accept()) ?? nil else { continue }
            // The directory's mode already excludes other users; this is a second check.
            guard (try? connection.peer().user) == FileStatus.currentUser else { continue }
            if connections.count >= Self.maximumConnectionCount { connections.removeFirst() }
            connections.append(connection)
        }
    }

    private func isOver(_ connection: MessageSocket) -> Bool {
        switch connection.receive(upTo: BatonMessage.maximumByteCount, files: fileCount) {
        case .nothing: return false
        case .message(let text, let files):
            if let reply = answer(text, files) { _ = try? connection.send(reply.text, with: reply.files) }
            return true
        case .tooLong, .end: return true
        }
    }
}

/// The texts that processes of one machine send each other about batons. Each is one message.
enum BatonMessage {
    static let maximumByteCount = 96

    /// Requests the baton of an epoch. The answer repeats the request, with the sealed bytes and the descriptors.
    static func request(for epoch: Revision) -> [UInt8] { Array("sharedcore-baton 1 \(epoch)".utf8) }

    /// Returns the message that gives a host the baton of an epoch; the descriptors come with it.
    static func deposit(of epoch: Revision, until deadline: BootInstant) -> [UInt8] {
        Array("sharedcore-baton-keep 1 \(epoch) \(deadline.nanoseconds)".utf8)
    }

    /// Returns the host's answer.
    static func kept(_ epoch: Revision) -> [UInt8] { Array("sharedcore-baton-kept 1 \(epoch)".utf8) }

    /// Returns the epoch that a request is for; nil for another message.
    static func requested(by text: [UInt8]) -> Revision? {
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "sharedcore-baton", words[1] == "1", let epoch = UInt64(words[2]) else {
            return nil
        }
        return Revision(rawValue: epoch)
    }

    /// Returns the epoch and the deadline of a deposit; nil for another message.
    static func deposited(by text: [UInt8]) -> (epoch: Revision, deadline: BootInstant)? {
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "sharedcore-baton-keep", words[1] == "1", let epoch = UInt64(words[2]),
            let deadline = UInt64(words[3])
        else { return nil }
        return (Revision(rawValue: epoch), BootInstant(nanoseconds: deadline))
    }
}
