internal import Coordination

/// The phases of a core, as an ownership machine knows them.
enum CorePhase: UInt8 {
    case none, starting, running, stopping, ended

    init(_ core: LocalCore?) {
        self =
            switch core?.phase {
            case nil: .none
            case .starting: .starting
            case .running: .running
            case .stopping: .stopping
            case .ended: .ended
            }
    }
}
