package import CoreAPI

/// That a core saw another one run when it began.
package struct OverlapSight: Hashable, Sendable {
    /// The epoch of the core that began.
    package let epoch: Revision
    /// The epoch of the one that ran.
    package let other: Revision

    package init(epoch: Revision, other: Revision) {
        self.epoch = epoch
        self.other = other
    }

    /// Nil for a text of another form.
    init?(_ text: String) {
        let numbers = text.split(separator: "-").compactMap { UInt64($0) }
        guard numbers.count == 2 else { return nil }
        self.init(epoch: Revision(rawValue: numbers[0]), other: Revision(rawValue: numbers[1]))
    }

    var text: String { "\(epoch.rawValue)-\(other.rawValue)" }
}
