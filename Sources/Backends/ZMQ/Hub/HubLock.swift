internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import Synchronization

/// The lock that makes a hub the only one: a lock of a file beside the socket or in the group's directory. The kernel
/// releases it when the process ends.
///
/// The file names the process that holds the lock, for `sharedcore hub --stop`.
final class HubLock: Sendable {
    private let file: Mutex<OpenFile?>
    private let identity: FileStatus.Identity
    /// The clients of the hubs before this one that may still run cores.
    let former: FormerClients

    static let lockedByte = 0
    /// The name of the lock in a group's directory.
    private static let groupName = "hub.lock"
    private static let suffix = ".lock"

    /// Returns the path of the lock of a socket.
    static func path(ofSocket path: String) -> String { path + suffix }
    /// Returns the path of the lock of a group's directory.
    static func path(ofGroup directory: String) -> String { directory + "/" + groupName }

    /// Returns the path of a lock without symbolic links.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the lock or its directory is another user's or open to others, or
    ///   another user can lead the path elsewhere.
    static func trusted(_ path: String) throws(SharedCoreError) -> String {
        let parts = Directory.parts(of: path)
        return try PrivateDirectory.trustedPath(parts.directory, [parts.name]).path(of: parts.name)
    }

    private init(_ file: OpenFile, _ former: FormerClients) throws(SystemCallError) {
        identity = try file.status().identity
        self.file = Mutex(file)
        self.former = former
    }

    /// Takes the lock of a socket's path. Removes a socket that an ended hub has left at the path: binding would
    /// silently take over the socket of a running hub as well, which the lock excludes.
    ///
    /// - Returns: The lock, and the socket's path without symbolic links, for the library to bind.
    static func ofSocket(_ path: String) throws(SharedCoreError) -> (lock: HubLock, path: String) {
        // The directory exists now, and is no link itself.
        let (made, name) = try place(ofSocket: path)
        let place = try PrivateDirectory.trustedPath(made.path, [])
        let directory = try PrivateDirectory.open(place.path)
        let lock = try take(name + suffix, in: directory, serving: path)
        let settled = place.path(of: name)
        for left in [settled, settled + ".news"] { try removeSocket(left) }
        return (lock, settled)
    }

    /// Removes a socket that no process serves, and nothing else: a path may have been given by mistake.
    private static func removeSocket(_ path: String) throws(SharedCoreError) {
        let status: FileStatus
        do throws(SystemCallError) {
            status = try FileStatus(ofPath: path)
        } catch {
            if error.isAbsent { return }
            throw SharedCoreError(error)
        }
        guard status.isSocket else {
            throw SharedCoreError(
                .invalidArgument, "The path at which the hub must listen exists and is not a socket.", at: path)
        }
        let parts = Directory.parts(of: path)
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            let directory = try Directory(path: parts.directory)
            try directory.remove(parts.name)
        }
    }

    /// Returns the directory of a socket, which it creates if needed, and the socket's name in it.
    static func place(ofSocket path: String) throws(SharedCoreError) -> (Directory, name: String) {
        let parts = Directory.parts(of: path)
        return (try PrivateDirectory.open(parts.directory), parts.name)
    }

    /// Returns whether a process holds the lock of a file. The file's content proves nothing.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` where the locks of the process cannot be seen.
    static func isHeld(at path: String, by process: Int32) throws(SharedCoreError) -> Bool {
        do throws(SystemCallError) {
            let file = try OpenFile(path: path, .write)
            // A lock of this process's own identifies the file among others: each process that asks locks the byte
            // behind the hub's that has its number.
            guard try file.tryLock(byteAt: lockedByte + 1 + Int(ProcessIdentity.current.pid)) else {
                throw SystemCallError("fcntl(F_OFD_SETLK)", number: SystemCallError.Number.wouldBlock, at: path)
            }
            return try ProcessLocks.holds(lockedByte, ofFileOf: file, process: process)
        } catch {
            throw SharedCoreError(
                .unavailable, "The locks of process \(process) cannot be seen from here.", at: path,
                cause: "\(error.call): \(error.text)")
        }
    }

    /// Takes the lock of a group's directory; nil if this hub holds it already, because the socket is in that
    /// directory.
    static func ofGroup(_ path: String, beside taken: [HubLock]) throws(SharedCoreError) -> HubLock? {
        let directory = try PrivateDirectory.open(path)
        let identity = try? OpenFile(groupName, in: directory, .read).status().identity
        if let identity, taken.contains(where: { $0.identity == identity }) { return nil }
        return try take(groupName, in: directory, serving: path)
    }

    private static func take(
        _ name: String, in directory: Directory, serving what: String
    ) throws(SharedCoreError) -> HubLock {
        try SharedCoreError.wrapping { () throws(SystemCallError) -> HubLock? in
            let file = try OpenFile(name, in: directory, .create)
            guard try file.tryLock(byteAt: lockedByte) else { return nil }
            let left = String(decoding: try file.read(count: HubRecord.byteCount, at: 0), as: UTF8.self)
            let former = HubRecord(left)?.formerClients ?? FormerClients()
            // Written in place, so that the record of former clients is never missing. It takes the space for all later
            // records, which then cannot fail on a full disk.
            try file.write(HubRecord(.starting, former).bytes, at: 0)
            return try HubLock(file, former)
        }.orThrow(isTaken(directory.path + "/" + name, serving: what))
    }

    private static func isTaken(_ lock: String, serving what: String) -> SharedCoreError {
        let holder =
            if case .serving(let process)? = try? HubEndpointState.ofLock(lock) { ", process \(process.pid)" } else {
                ""
            }
        return SharedCoreError(
            .unavailable, "Another hub serves there already\(holder). “sharedcore hub --stop” ends it.", at: what)
    }

    /// Records, before the hub answers a client, that clients may connect from now on: a hub killed after this may have
    /// had clients.
    func expectClients(onMemory: Bool) {
        write(HubRecord(onMemory ? .openingOnMemory : .openingOnFiles, former))
    }

    /// Records which process holds the lock, and what it serves: the hub answers from now on.
    func announce(onMemory: Bool) {
        write(HubRecord(onMemory ? .onMemory : .onFiles, former))
    }

    /// Releases the lock. The file is left empty, or says that clients of this hub or of former ones may still run
    /// cores. A killed hub leaves its name in the file.
    ///
    /// - Parameter left: The clients that may still run cores; nil for those of the hubs before this one, which served
    ///   no client.
    func release(leaving left: FormerClients? = nil) {
        let former = left ?? former
        if former == FormerClients() {
            file.withLock { file in try? file?.truncate(to: 0) }
        } else {
            write(HubRecord(.ended, former))
        }
        unlock()
    }

    /// Releases the lock as a killed hub on memory does: clients start another hub, which does not know their sessions.
    func abandon() {
        write(HubRecord(.onMemory, former))
        unlock()
    }

    private func unlock() {
        file.withLock { file in
            file?.unlock(byteAt: Self.lockedByte)
            file = nil
        }
    }

    private func write(_ record: HubRecord) {
        file.withLock { file in try? file?.write(record.bytes, at: 0) }
    }
}

extension Optional {
    fileprivate consuming func orThrow(_ error: @autoclosure () -> SharedCoreError) throws(SharedCoreError) -> Wrapped {
        guard let value = self else { throw error() }
        return value
    }
}
