public import CoreAPI
internal import Platform
internal import Synchronization

/// An observer of cores that knows nothing of the order of commits: it sees what really runs.
///
/// The order cannot show two owners at once, because it could not record them. The witness can: each core tells it
/// when it starts, and learns then which other cores run.
///
/// Source: contract C15.
public protocol Witness: Sendable {
    /// Says that the core of an epoch runs from now on.
    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold
}

/// A running core, as a witness knows it. It lasts until ``end()``, or until the process dies.
public protocol WitnessHold: Sendable {
    /// The epochs of the other cores that ran when this one began, in rising order.
    ///
    /// The core that began first may not have seen the other; the one that began second has.
    var others: [Revision] { get }

    /// The epochs of the other cores that run now. A process that was just killed may show for the moment that the
    /// system takes to close its files; a core that really runs shows in the next look too.
    func currentOthers() throws(SharedCoreError) -> [Revision]

    /// Says that the core has stopped. Idempotent.
    func end()
}

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

    /// The witness of the group whose files lie in a directory, where the programs have it.
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

/// The witness for cores of one process.
public final class MemoryWitness: Witness {
    /// How many cores of each epoch run. There should be one of one epoch; a witness presumes nothing.
    private let running = Mutex<[Revision: Int]>([:])

    public init() {}

    public func begin(epoch: Revision) -> any WitnessHold {
        let others = running.withLock { running in
            defer { running[epoch, default: 0] += 1 }
            return Self.sorted(running)
        }
        return MemoryWitnessHold(of: epoch, others: others, in: self)
    }

    /// The epochs of the cores that run, but for one of `epoch`.
    func look(besides epoch: Revision?) -> [Revision] {
        running.withLock { running in
            var others = running
            if let epoch { others[epoch, default: 1] -= 1 }
            return Self.sorted(others)
        }
    }

    func end(epoch: Revision) {
        running.withLock { running in
            running[epoch, default: 1] -= 1
            if running[epoch] == 0 { running[epoch] = nil }
        }
    }

    private static func sorted(_ running: [Revision: Int]) -> [Revision] {
        running.filter { $0.value > 0 }.keys.sorted()
    }
}

/// A core of this process that runs.
final class MemoryWitnessHold: WitnessHold {
    let others: [Revision]
    private let epoch: Revision
    private let witness: MemoryWitness
    private let hasEnded = Atomic(false)

    init(of epoch: Revision, others: [Revision], in witness: MemoryWitness) {
        self.epoch = epoch
        self.others = others
        self.witness = witness
    }

    deinit {
        end()
    }

    func currentOthers() -> [Revision] {
        witness.look(besides: hasEnded.load(ordering: .acquiring) ? nil : epoch)
    }

    func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { witness.end(epoch: epoch) }
    }
}
