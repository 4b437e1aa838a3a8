package import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

/// The server side of a group, which the cores of several processes share: a directory with a file for each message.
///
/// A message is moved when a core has acknowledged it, so an unacknowledged message survives the death of any process.
/// The directory also contains the gates that a case opens, and the file of the witness.
package struct SharedServer: Sendable {
    package let path: String

    private static let counter = Atomic(0)

    /// Makes a server in an existing directory, for a process that got its path.
    package init(at path: String) {
        self.path = path
    }

    /// Makes a new server in a temporary directory.
    package static func make() throws -> SharedServer {
        let parent = OwnProcess.text("TMPDIR")
        let server = SharedServer(at: try Directory.makeTemporary("sharedcore-server", in: parent))
        for folder in folders { _ = try Directory.create(path: server.path + "/" + folder, permissions: 0o700) }
        return server
    }

    /// The folders, one each for messages that are being written, waiting messages, acknowledged messages, gates,
    /// observations of cores, and processes of cores.
    private static let folders = ["incoming", "waiting", "acknowledged", "gates", "seen", "cores"]

    /// Removes everything.
    package func remove() {
        for folder in Self.folders { Directory.removeWithFiles(path: path + "/" + folder) }
        // Also removes the witness's file.
        Directory.removeWithFiles(path: path)
    }

    /// The path of the file in which the witness of the group's cores has its locks.
    package var witnessPath: String { path + "/witness" }

    // MARK: - Messages

    /// Adds a message, as if it came from the network.
    package func receive(_ message: InboxMessage) throws {
        let number = Self.counter.add(1, ordering: .relaxed).newValue
        // The names are in the order of arrival, with enough digits for the messages of any case.
        let name = "\(1_000_000 + number)-\(OwnProcess.pid)"
        let file = try OpenFile(path: path + "/incoming/" + name, .createNew)
        try file.write(Array(ServedMessage(name: name, message: message).text.utf8), at: 0)
        try move(name, from: "incoming", to: "waiting")
    }

    /// Returns the messages that no core has acknowledged, in the order of their coming.
    package func waiting() throws -> [ServedMessage] {
        try names(in: "waiting").sorted().compactMap { name in
            // Another core may have acknowledged the message meanwhile.
            guard let file = try? OpenFile(path: path + "/waiting/" + name, .read) else { return nil }
            let text = String(decoding: try file.read(count: try file.status().byteCount, at: 0), as: UTF8.self)
            return ServedMessage(name: name, text: text)
        }
    }

    /// Moves a message that a core has stored to the acknowledged ones.
    package func acknowledge(_ message: ServedMessage) throws {
        try move(message.name, from: "waiting", to: "acknowledged")
    }

    /// Returns the number of messages that cores have acknowledged.
    package func acknowledgedCount() throws -> Int { try names(in: "acknowledged").count }

    // MARK: - Gates

    /// Opens a gate for all cores. It stays open.
    package func open(_ gate: String) throws {
        _ = try OpenFile(path: path + "/gates/" + gate, .create)
    }

    /// Waits until a gate is open, in any process. Also returns if the server was removed after a failed case: a core
    /// would otherwise wait for ever.
    package func pass(_ gate: String) async throws {
        while !FileStatus.exists(path + "/gates/" + gate), FileStatus.exists(path) {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    // MARK: - Observations of cores

    /// Records the process of the core of an epoch.
    func noteCore(of epoch: Revision, pid: Int32 = OwnProcess.pid) {
        // A failure is ignored as in ``note(_:)``: without the file, the core does not count as ending.
        _ = try? OpenFile(path: path + "/cores/\(epoch.rawValue)-\(pid)", .create)
    }

    /// Returns whether the process of an epoch's core no longer runs any code.
    func isEnding(_ epoch: Revision) -> Bool {
        let pids = ((try? names(in: "cores")) ?? []).compactMap { name -> Int32? in
            let numbers = name.split(separator: "-")
            return numbers.count == 2 && numbers[0] == "\(epoch.rawValue)" ? Int32(numbers[1]) : nil
        }
        let bootID = ProcessIdentity.current.bootID
        return !pids.isEmpty && pids.allSatisfy { ProcessIdentity(bootID: bootID, pid: $0, startTime: 0).isExiting }
    }

    /// Records that the core of one epoch began while that of another ran.
    package func note(_ sight: OverlapSight) {
        // A failure is ignored: no caller can handle it, and the timeline has an entry about the overlap too.
        _ = try? OpenFile(path: path + "/seen/" + sight.text, .create)
    }

    /// Returns the observations that were noted.
    package func sights() throws -> [OverlapSight] { try names(in: "seen").compactMap(OverlapSight.init) }

    // MARK: -

    private func names(in folder: String) throws -> [String] { try Directory(path: path + "/" + folder).names() }

    private func move(_ name: String, from: String, to: String) throws {
        do throws(SystemCallError) {
            _ = try Directory(path: path + "/" + from).move(name, to: Directory(path: path + "/" + to), asFree: name)
        } catch {
            guard error.isAbsent else { throw error }
        }
    }
}
