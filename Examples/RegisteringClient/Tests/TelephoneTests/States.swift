import Lifecycle
import Testing

/// In which states the network is lost and restored.
struct States: Hashable, Sendable, CustomTestStringConvertible {
    var lost: ApplicationState
    var restored: ApplicationState

    static let pairs = ApplicationState.allCases.flatMap { lost in
        ApplicationState.allCases.map { States(lost: lost, restored: $0) }
    }

    var testDescription: String { "lost in \(lost), restored in \(restored)" }
}

extension ApplicationState {
    /// The row of a network that is lost in it.
    var loss: TransitionNumber {
        switch self {
        case .foreground: .t1
        case .background: .t5
        case .suspended: .t13
        }
    }

    /// The row of a network that is restored in it.
    var gain: TransitionNumber {
        switch self {
        case .foreground: .t2
        case .background: .t4
        case .suspended: .t14
        }
    }
}
