public import CoreAPI

/// The ownership before an acquisition, as whoever acquired knew it.
public struct PreviousOwnership: Hashable, Sendable {
    /// Its epoch.
    public let epoch: Revision
    /// How it ended.
    public let end: OwnershipEnd

    public init(epoch: Revision, end: OwnershipEnd) {
        self.epoch = epoch
        self.end = end
    }
}
