public import CoreAPI
internal import Platform
internal import Synchronization

/// The witness for cores in several processes of one machine: a file in which each running core locks the byte at the
/// offset of its epoch.
///
/// The kernel releases a lock when its process ends, and a stopped process keeps its lock. So the locks show exactly
/// the cores that exist. The file holds no bytes and is beside the store, not in it.
///
/// Source: contract C15.
public struct FileWitness: Witness {
    /// The path of the file.
    public let path: String

    /// Names the file of the witness, and opens nothing yet.
    ///
    /// - Parameter path: The file's path. The file is created when the first core begins; its directory must exist.
    public init(path: String) {
        self.path = path
    }

    /// Makes the witness of the group in a directory, at the path that the programs use.
    ///
    /// - Parameter directory: The absolute path of the group's directory, which must exist.
    public init(besideGroup directory: String) {
        self.init(path: directory + "/witness")
    }

    /// Registers a running core by a lock on the byte at its epoch. The result lists the other cores that run.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an epoch beyond the offsets of a file;
    ///   ``SharedCoreError/Code/corrupt`` when the path is not a regular file; ``SharedCoreError/Code/forbidden`` or
    ///   ``SharedCoreError/Code/system`` when the file cannot be opened or locked.
    public func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        guard let byte = Int(exactly: epoch.rawValue), byte < Int.max else {
            throw SharedCoreError(.invalidArgument, "An epoch is less than 2^63, not \(epoch).", at: path)
        }
        do throws(SystemCallError) {
            // Each core needs its own open file description: a process does not see the locks of its own description.
            return try FileWitnessHold(lock: byte, of: OpenFile(path: path, .create))
        } catch {
            throw SharedCoreError(error)
        }
    }
}

/// The registration of a running core: a locked byte of the file. Releasing the last reference unlocks it.
final class FileWitnessHold: WitnessHold {
    let others: [Revision]
    private let file: OpenFile
    private let byte: Int
    private let hasEnded: Mutex<Bool>

    /// Locks first and reads second: of two cores that begin at once, at least one sees the other.
    init(lock byte: Int, of file: OpenFile) throws(SystemCallError) {
        self.file = file
        self.byte = byte
        // Another core of the same epoch has the byte locked: it is listed among the others, and there is nothing to
        // unlock.
        hasEnded = Mutex(try !file.tryLock(byteAt: byte))
        others = try Self.running(in: file)
    }

    func currentOthers() throws(SharedCoreError) -> [Revision] {
        do throws(SystemCallError) {
            return try Self.running(in: file)
        } catch {
            throw SharedCoreError(error)
        }
    }

    func end() {
        hasEnded.withLock { hasEnded in
            if !hasEnded { file.unlock(byteAt: byte) }
            hasEnded = true
        }
    }

    private static func running(in file: OpenFile) throws(SystemCallError) -> [Revision] {
        try file.lockedBytes(in: 0..<Int.max).map { Revision(rawValue: UInt64($0)) }
    }
}
