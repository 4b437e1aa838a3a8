@testable import ZMQBackend

extension HubLink {
    /// Whether nothing more can be asked.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }

    /// Where the hub's stream is, when the system has chosen its port.
    var streamPort: UInt16? { welcome?.streamPort }
}
