internal import Coordination
internal import CoreAPI

extension CallID {
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a text of nothing.
    init(checking text: String) throws(SharedCoreError) {
        guard let callID = CallID(text) else {
            throw SharedCoreError(.invalidArgument, "A call-id is any text but the empty one.", at: "test")
        }
        self = callID
    }
}
