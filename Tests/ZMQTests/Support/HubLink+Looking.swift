@testable import ZMQBackend

extension HubLink {
    /// Whether nothing more can be asked.
    var isOver: Bool {
        if case .ended = phase { true } else { false }
    }
}
