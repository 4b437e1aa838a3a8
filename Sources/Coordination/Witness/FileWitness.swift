public import CoreAPI
internal import Platform

/// The witness for cores of several processes of one machine: a file of which each running core has one byte locked,
/// the one at the offset of its epoch.
///
/// The kernel gives a lock back when its process is gone, and a stopped process keeps it: what shows is what runs. The
/// file holds no bytes and is beside the store, not in it.
///
/// Source: contract C15.
public struct FileWitness: Witness {
    /// Where the file is.
    public let path: String

    /// - Parameter path: The file's path; it is made when the first core begins. Its directory must exist.
    public init(path: String) {
        self.path = path
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
