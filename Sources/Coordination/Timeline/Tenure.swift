package import CoreAPI

/// The last ownership that there was, kept when its holder is gone: the next owner can tell exactly how it
/// ended.
///
/// It stands under one key, written by each acquisition and each release. Open, its revision is the epoch; when no owner
/// stands, an open tenure ended with its session.
package struct Tenure: Hashable, Sendable {
    /// The key that it stands under.
    package static let key: Key = ".sharedcore/tenure"

    /// The epoch of the ownership.
    package let epoch: Revision
    /// Whether its holder released it.
    package let isReleased: Bool
    /// The revision to guard by when acquiring, so that no other ownership comes in between.
    package let revision: Revision

    /// Reads the entry under ``key``; nil when there never was an owner.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` for bytes that say nothing.
    package init?(_ entry: Entry?) throws(SharedCoreError) {
        guard let entry else { return nil }
        var reader = ByteReader(entry.value)
        do throws(ByteCodingError) {
            guard try reader.byte() == Self.version else { throw ByteCodingError.malformed }
            let released = try reader.optionalRevision()
            try reader.finish()
            revision = entry.revision
            epoch = released ?? entry.revision
            isReleased = released != nil
        } catch {
            throw SharedCoreError(
                .corrupt, "The record of the last ownership cannot be read.", at: entry.key.text, cause: "\(error)")
        }
    }

    /// The value for an ownership that ends (`released`) or begins (nil).
    static func encoded(released epoch: Revision?) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        writer.optional(epoch) { $0.integer($1.rawValue) }
        return writer.bytes
    }

    private static let version: UInt8 = 1

    /// How it ended, for the entry of an acquisition that found no owner.
    package var previous: PreviousOwnership {
        PreviousOwnership(epoch: epoch, end: isReleased ? .released : .sessionEnded)
    }
}
