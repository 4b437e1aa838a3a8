public import CoreAPI
internal import Platform
internal import Synchronization

/// The witness for cores of several processes of one machine: a file of which each running core has one byte locked,
/// the one at the offset of its epoch.
///
/// The kernel gives a lock back when its process is gone, and a stopped process keeps it: what shows is what runs. The
/// file holds no bytes and is beside the store, not in it.
///
/// Source: contract C15.
public struct FileWitness: Witness {
    /// The path of the file.
    public let path: String

    /// - Parameter path: The file's path; it is made when the first core begins. Its directory must exist.
    public init(path: String) {
        self.path = path
    }

    /// The witness of the group in a directory, at the path that the programs use.
    ///
    /// - Parameter directory: The absolute path of the group's directory, which must exist.
    public init(besideGroup directory: String) {
        self.init(path: directory + "/witness")
    }

    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for an epoch beyond the offsets of a file;
    ///   ``SharedCoreError/Code/corrupt`` when it is no regular file; ``SharedCoreError/Code/forbidden`` or
    ///   ``SharedCoreError/Code/system`` when it cannot be used.
    public func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        guard let byte = Int(exactly: epoch.rawValue), byte < Int.max else {
            throw SharedCoreError(.invalidArgument, "An epoch is less than 2^63, not \(epoch).", at: path)
        }
        do throws(SystemCallError) {
            // A description of its own for each core: one never sees its own locks.
            return try FileWitnessHold(lock: byte, of: OpenFile(path: path, .create))
        } catch {
            throw SharedCoreError(error)
        }
    }
}

/// A core that runs, as the lock of a byte. Letting go of it ends it.
final class FileWitnessHold: WitnessHold {
    let others: [Revision]
    private let file: OpenFile
    private let byte: Int
    private let hasEnded: Mutex<Bool>

    /// Locks first and looks second: of two that begin at once, one sees the other at least.
    init(lock byte: Int, of file: OpenFile) throws(SystemCallError) {
        self.file = file
        self.byte = byte
        // Another core of the same epoch has the byte: it shows among the others, and there is nothing to give back.
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
