internal import Coordination

/// What a call does next.
enum WaitMove: UInt8 {
    case take, nothingToShow, timeout, expect, waitForCore, wait

    init(_ step: MessageWait.Step) {
        self =
            switch step {
            case .take: .take
            case .nothingToShow: .nothingToShow
            case .timeout: .timeout
            case .expect: .expect
            case .wait(_, let needsCore): needsCore ? .waitForCore : .wait
            }
    }
}
