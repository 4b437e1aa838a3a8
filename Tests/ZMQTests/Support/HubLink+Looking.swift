@testable import ZMQBackend

extension HubLink {
    /// Whether nothing more can be asked.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    /// The port of the hub's stream, when the system has chosen it.
    var streamPort: UInt16? { welcome?.streamPort }
}
