@testable import ZMQBackend

extension HubLink {
    /// True once the link has ended, and answers no more requests.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    /// The port of the hub's stream, when the system has chosen it.
    var streamPort: UInt16? { welcome?.streamPort }
}
