package import CoreAPI
internal import StoreEngine

/// What a group holds at one revision.
package struct GroupSummary: Hashable, Sendable {
    package let revision: Revision
    package let keyCount: Int
    /// The bytes of the content, as the store counts them.
    package let byteCount: Int

    init(_ state: StoreState) {
        revision = state.revision
        keyCount = state.entryCount
        byteCount = state.byteCount
    }
}
