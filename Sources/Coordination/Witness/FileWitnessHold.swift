internal import CoreAPI
internal import Platform
internal import Synchronization

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

    func look() throws(SharedCoreError) -> [Revision] {
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
