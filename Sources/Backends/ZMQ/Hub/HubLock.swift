internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import Synchronization

/// That a hub is the only one: a lock of a file beside what it serves. The kernel gives it back with the process.
///
/// The file names the process that has the lock, for whoever wants to stop it.
final class HubLock: Sendable {
    private let file: Mutex<OpenFile?>

    private static let lockedByte = 0

    private init(_ file: OpenFile) {
        self.file = Mutex(file)
    }

    /// The lock of a socket's path. What a hub that is gone has left at the path is removed: binding would take it over
    /// without a word also from a hub that lives, which the lock excludes.
    static func ofSocket(_ path: String) throws(SharedCoreError) -> HubLock {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let directory = try PrivateDirectory.open(slash > path.startIndex ? String(path[..<slash]) : "/")
        let name = String(path[path.index(after: slash)...])
        let lock = try take(name + ".lock", in: directory, serving: path)
        do throws(SystemCallError) {
            try directory.remove(name)
            try directory.remove(name + ".news")
        } catch {
            throw SharedCoreError(error)
        }
        return lock
    }

    /// The lock of a group's directory.
    static func ofGroup(_ path: String) throws(SharedCoreError) -> HubLock {
        let directory = try SharedCoreError.wrapping { () throws(SystemCallError) in try Directory(path: path) }
        return try take("hub.lock", in: directory, serving: path)
    }

    /// The process that has the lock of a socket's path; nil when none has.
    static func holder(ofSocket path: String) throws(SystemCallError) -> HubProcess? {
        let file: OpenFile
        do throws(SystemCallError) {
            file = try OpenFile(path: path + ".lock", .read)
            guard try file.isLocked(byteAt: lockedByte) else { return nil }
        } catch {
            if error.isAbsent { return nil }
            throw error
        }
        return HubProcess(String(decoding: try file.read(count: 256, at: 0), as: UTF8.self))
    }

    private static func take(
        _ name: String, in directory: Directory, serving what: String
    ) throws(SharedCoreError) -> HubLock {
        try SharedCoreError.wrapping { () throws(SystemCallError) -> HubLock? in
            let file = try OpenFile(name, in: directory, .create)
            guard try file.tryLock(byteAt: lockedByte) else { return nil }
            try file.truncate(to: 0)
            return HubLock(file)
        }.orThrow(
            SharedCoreError(.unavailable, "Another hub serves there already.", at: what))
    }

    /// Says which process has the lock: the hub answers from now on.
    func announce() {
        file.withLock { file in try? file?.write(Array(HubProcess.current.text.utf8), at: 0) }
    }

    func release() {
        file.withLock { file in
            file?.unlock(byteAt: Self.lockedByte)
            file = nil
        }
    }
}

extension Optional {
    fileprivate consuming func orThrow(_ error: @autoclosure () -> SharedCoreError) throws(SharedCoreError) -> Wrapped {
        guard let value = self else { throw error() }
        return value
    }
}
