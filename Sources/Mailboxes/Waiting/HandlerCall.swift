internal import Synchronization

/// One call of a handler, as the code that it calls knows it.
///
/// A task that the handler begins knows it as well, and may outlive it, but is not inside of it: it must wait for handlers
/// as everybody does.
final class HandlerCall: Sendable {
    private let task = HandlerCall.currentTask
    private let isRunning = Atomic(true)

    /// Whether the present code runs inside of this call.
    var isHere: Bool {
        // Once the call is over, another task may have the number of its task.
        isRunning.load(ordering: .acquiring) && task == Self.currentTask
    }

    func end() {
        isRunning.store(false, ordering: .releasing)
    }

    /// Tells tasks that live at the same time apart; nil outside of tasks.
    private static var currentTask: Int? {
        withUnsafeCurrentTask { $0?.hashValue }
    }
}
