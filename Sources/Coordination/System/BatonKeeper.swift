public import CoreAPI
internal import Mailboxes
internal import Platform
internal import Synchronization

extension OpenFile: BatonFile {}

/// Moves batons between processes of one machine, over sockets in a directory of this user.
package struct LocalBatonTransport: BatonTransport {
    /// The time limit for the host to confirm that it keeps a baton too.
    static let hostBound = Duration.milliseconds(250)
    /// The total time limit for the answers of a baton's keepers.
    static let bound = Duration.milliseconds(500)

    private let hostBound: Duration
    private let bound: Duration

    /// Makes a transport, with the bounds of the contract unless a test needs longer ones.
    package init(hostBound: Duration = Self.hostBound, bound: Duration = Self.bound) {
        self.hostBound = hostBound
        self.bound = bound
    }

    package func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping {
        do throws(SystemCallError) {
            return try BatonKeeper(baton, of: epoch, hostBound: hostBound)
        } catch {
            throw SharedCoreError(error)
        }
    }

    package func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        await FetchedBaton.fetch(record, within: bound)
    }
}

extension Baton {
    /// Makes a baton with descriptors.
    ///
    /// - Parameters:
    ///   - kind: The format of the bytes and its version, as in ``init(_:bytes:calls:)``.
    ///   - bytes: The information that the next core needs: at most 64 KiB.
    ///   - descriptors: Open descriptors, at most 15. They are duplicated; the caller keeps its own.
    ///   - calls: The calls that move, which the core has begun and not ended: 1 to 4.
    /// - Throws: As ``init(_:bytes:calls:)``, and for a descriptor that is not open; ``SharedCoreError/Code/unavailable`` when the process
    ///   has no descriptors left.
    public init(
        _ kind: String, bytes: [UInt8], descriptors: [Int32], calls: [CallID]
    ) throws(SharedCoreError) {
        try self.init(kind, bytes: bytes, calls: calls)
        guard descriptors.count <= Self.maximumDescriptorCount else {
            throw SharedCoreError(
                .invalidArgument,
                "A baton has at most \(Self.maximumDescriptorCount) descriptors, not \(descriptors.count).", at: "baton"
            )
        }
        for descriptor in descriptors {
            do throws(SystemCallError) {
                files.append(try OpenFile(duplicating: descriptor))
            } catch {
                guard error.exhausted == nil else { throw SharedCoreError(error) }
                throw SharedCoreError(
                    .invalidArgument, "Descriptor \(descriptor) of a baton is not open.", at: "baton",
                    cause: "\(error.call): \(error.text)")
            }
        }
    }
}

extension ReceivedBaton {
    /// Takes the descriptors, in the order in which the former core gave them. The caller must close them. A second call
    /// returns none.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when the process has no descriptors left. The descriptors of the
    ///   baton are then closed.
    public func takeDescriptors() throws(SharedCoreError) -> [Int32] {
        var numbers: [Int32] = []
        for case let file as OpenFile in takeFiles() {
            do throws(SystemCallError) {
                numbers.append(try file.duplicate())
            } catch {
                for number in numbers { _ = OpenFile(owning: number, path: "baton") }
                throw SharedCoreError(error)
            }
        }
        return numbers
    }
}

/// The content of a baton for sending: its bytes as a sealed file in memory, and its descriptors.
///
/// It waits for requests of the new owner's process until it is closed.
final class BatonKeeper: BatonKeeping {
    private final class Content: Sendable {
        let files: Mutex<[OpenFile]>

        init(_ files: [OpenFile]) {
            self.files = Mutex(files)
        }
    }

    private let epoch: Revision
    private let hostBound: Duration
    private let content: Content
    private let listener: BatonListener

    var path: String { listener.path }

    /// Seals the bytes and begins to listen.
    init(_ baton: Baton, of epoch: Revision, hostBound: Duration = LocalBatonTransport.hostBound)
        throws(SystemCallError)
    {
        self.epoch = epoch
        self.hostBound = hostBound
        let sealed = try OpenFile.sealed(baton.bytes, as: "baton")
        let content = Content([sealed] + baton.files.compactMap { $0 as? OpenFile })
        self.content = content
        listener = try BatonListener(
            answer: { text, _ in
                let files = content.files.withLock(\.self)
                guard BatonMessage.requested(by: text) == epoch, !files.isEmpty else { return nil }
                return BatonListener.Reply(text: text, files: files)
            },
            // Closes the duplicates of the descriptors. They are the last ones of this process if the core has closed
            // its own.
            ended: { content.files.withLock { $0 = [] } })
    }

    /// Closes the duplicates of the baton's descriptors, and gives the baton no more. Idempotent.
    func close() {
        content.files.withLock { $0 = [] }
        listener.close()
    }

    func deposit(at path: String, until deadline: BootInstant) async -> Bool {
        let files = content.files.withLock(\.self)
        return await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try OwnedThread.start("sc-baton") { [epoch, hostBound] in
                    continuation.resume(
                        returning: Self.deposit(files, of: epoch, at: path, until: deadline, within: hostBound))
                }
            } catch {
                continuation.resume(returning: false)
            }
        }
    }

    private static func deposit(
        _ files: [OpenFile], of epoch: Revision, at path: String, until deadline: BootInstant,
        within hostBound: Duration
    ) -> Bool {
        let bound = ContinuousClock.now + hostBound
        guard let connection = try? MessageSocket(connectingTo: path),
            (try? connection.peer().user) == FileStatus.currentUser,
            (try? connection.send(BatonMessage.deposit(of: epoch, until: deadline), with: files)) != nil
        else { return false }
        while Poll.wait(for: [connection.descriptor], until: bound)[0] {
            switch connection.receive(upTo: BatonMessage.maximumByteCount, files: 0) {
            case .nothing: continue
            case .message(let text, _): return text == BatonMessage.kept(epoch)
            case .tooLong, .end: return false
            }
        }
        return false
    }
}

/// The directory of the sockets of processes that keep a baton. Only this user may enter it.
enum BatonDirectory {
    /// Opens the directory, and makes it if it does not exist. Removes sockets that processes left.
    static func open() throws(SystemCallError) -> Directory {
        let runtime = OwnProcess.text("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let parent = runtime.map { $0 + "/sharedcore" } ?? "/tmp/sharedcore-\(FileStatus.currentUser)"
        _ = try openPrivate(parent)
        let directory = try openPrivate(parent + "/batons")
        removeLeftovers(in: directory)
        return directory
    }

    private static func openPrivate(_ path: String) throws(SystemCallError) -> Directory {
        _ = try Directory.create(path: path, permissions: 0o700)
        let directory = try Directory(path: path)
        let status = try directory.status()
        guard status.owner == FileStatus.currentUser, status.permissions & 0o077 == 0 else {
            throw SystemCallError("open", number: SystemCallError.Number.accessDenied, at: path)
        }
        return directory
    }

    /// Removes the sockets of processes that have ended. The process id of another PID namespace has no meaning here,
    /// so a socket with a listener stays.
    private static func removeLeftovers(in directory: Directory) {
        for name in (try? directory.names()) ?? [] {
            guard let number = Int32(name.prefix { $0 != "-" }), (try? Directory(path: "/proc/\(number)")) == nil else {
                continue
            }
            do throws(SystemCallError) {
                _ = try MessageSocket(connectingTo: directory.path + "/" + name)
            } catch {
                if error.isRefused { _ = try? directory.remove(name) }
            }
        }
    }
}

extension FetchedBaton {
    /// Requests a baton from its keepers, one after the other, on a thread of its own.
    ///
    /// - Returns: The baton, or a failure that says why no keeper has it, as text for users.
    static func fetch(
        _ record: BatonRecord, within bound: Duration = LocalBatonTransport.bound
    ) async -> Result<FetchedBaton, BatonProblem> {
        await withCheckedContinuation { continuation in
            do throws(SystemCallError) {
                try OwnedThread.start("sc-baton") {
                    let deadline = ContinuousClock.now + bound
                    var result = Result<FetchedBaton, BatonProblem>.failure(BatonProblem("nothing keeps it"))
                    // A keeper that begins with `/` is the path of a socket on this machine; the other possible keeper
                    // is the hub.
                    let paths = record.keepers.filter { $0.hasPrefix("/") }
                    for (number, path) in paths.enumerated() {
                        // Each keeper gets a part of the time only, so that a frozen one leaves time for the next.
                        let left = ContinuousClock.now.duration(to: deadline)
                        let share = left / (paths.count - number)
                        result = fetchInTime(record, at: path, before: ContinuousClock.now + share, within: bound)
                        if case .success = result { break }
                    }
                    continuation.resume(returning: result)
                }
            } catch {
                continuation.resume(returning: .failure(BatonProblem("\(error)")))
            }
        }
    }

    /// Tries again if other processes use all connections.
    private static func fetchInTime(
        _ record: BatonRecord, at path: String, before deadline: ContinuousClock.Instant, within bound: Duration
    ) -> Result<FetchedBaton, BatonProblem> {
        while true {
            let result = fetch(record, at: path, before: deadline, within: bound)
            guard case .failure(let problem) = result, problem.mayPass, ContinuousClock.now < deadline else {
                return result
            }
            _ = Poll.wait(for: [], timeout: .milliseconds(5))
        }
    }

    private static func fetch(
        _ record: BatonRecord, at path: String, before deadline: ContinuousClock.Instant, within bound: Duration
    ) -> Result<FetchedBaton, BatonProblem> {
        func problem(_ text: String) -> Result<FetchedBaton, BatonProblem> { .failure(BatonProblem(text)) }
        let request = BatonMessage.request(for: record.epoch)
        let connection: MessageSocket
        do throws(SystemCallError) {
            connection = try MessageSocket(connectingTo: path)
            guard try connection.peer().user == FileStatus.currentUser else {
                return problem("another user's process keeps it")
            }
            try connection.send(request)
        } catch {
            var problem = BatonProblem("the process that keeps it does not answer (\(error.call): \(error.text))")
            problem.mayPass = error.number == SystemCallError.Number.wouldBlock || error.isBrokenPipe
            return .failure(problem)
        }
        while true {
            guard Poll.wait(for: [connection.descriptor], until: deadline)[0] else {
                return problem("the process that keeps it did not answer within \(bound)")
            }
            switch connection.receive(upTo: BatonMessage.maximumByteCount, files: 1 + Baton.maximumDescriptorCount) {
            case .nothing: continue
            case .end:
                var problem = BatonProblem("the process that keeps it has closed it")
                problem.mayPass = true
                return .failure(problem)
            case .tooLong: return problem("the answer of the process that keeps it is too long")
            case .message(let text, let files):
                guard text == request, let sealed = files.first, files.count == 1 + record.descriptorCount else {
                    return problem("the answer of the process that keeps it is not a baton's")
                }
                return check(sealed, Array(files.dropFirst()), against: record)
            }
        }
    }

    private static func check(
        _ sealed: OpenFile, _ files: [OpenFile], against record: BatonRecord
    ) -> Result<FetchedBaton, BatonProblem> {
        do throws(SystemCallError) {
            guard sealed.isSealed, try sealed.status().byteCount == record.byteCount else {
                return .failure(BatonProblem("its bytes are not sealed, or have another length"))
            }
            let bytes = try sealed.read(count: record.byteCount, at: 0)
            guard SHA256(of: bytes).digest == record.digest else {
                return .failure(BatonProblem("its bytes are not those that were offered"))
            }
            return .success(FetchedBaton(bytes: bytes, files: files))
        } catch {
            return .failure(BatonProblem("its bytes cannot be read (\(error.call): \(error.text))"))
        }
    }
}
