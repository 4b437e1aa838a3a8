internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Records that the command of `exclusive` was told to end because its ownership must end, and prints a line about it.
final class EndingOrder: Sendable {
    private let isForPeople: Bool
    // A pipe that is not read blocks its writer, which must not delay a hand-over.
    private let errors = SerialThread(name: "errors")
    private let state = Mutex<(hasCome: Bool, telling: Task<Void, Never>?)>((false, nil))

    /// Makes an order that was not given yet.
    ///
    /// - Parameter isTold: True to print the line.
    init(isTold: Bool) {
        isForPeople = isTold
    }

    /// True after the command was told to end.
    var hasCome: Bool { state.withLock(\.hasCome) }

    /// Records that the command is told to end. Returns at once.
    func came(in context: CoreContext) {
        state.withLock { state in
            state.hasCome = true
            guard isForPeople else { return }
            state.telling = Task.detached { [errors] in
                let reason = await Self.reason(in: context)
                errors.submit {
                    StandardError.write(
                        "sharedcore: the command is told to end, because \(ValueText.oneLine(reason)); “sharedcore timeline” tells "
                            + "more")
                }
            }
        }
    }

    /// Returns when the line is printed.
    func isTold() async {
        await state.withLock(\.telling)?.value
        await errors.run {}
    }

    /// Returns the reason why the command must end, from the participant's own view, without asking another process.
    private static func reason(in context: CoreContext) async -> String {
        if context.request?.reason == .budget { return "its budget (executor.budget) is used up" }
        if context.request?.reason == .cutOff { return "the group is out of reach and the lease nearly over" }
        var view = OwnershipView()
        if let standing = try? await context.store.list(OwnershipKey.path, consistency: .causal) {
            view.apply(standing, at: SystemClock().now())
        }
        if let owner = view.owner, owner.claim != context.epoch {
            return
                "\(owner.record.role) “\(owner.record.name)” (pid \(owner.record.process.pid), session \(owner.session)) "
                + "has taken the core"
        }
        if let handover = view.handover {
            return
                "main “\(handover.record.name)” (pid \(handover.record.process.pid), session \(handover.session)) takes the core"
        }
        return "the ownership is lost"
    }
}
