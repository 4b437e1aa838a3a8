internal import Coordination
internal import ExecutorRun

extension Resolution {
    /// How ownership and messages are handled.
    func coordinationOptions() throws(CommandFailure) -> CoordinationOptions {
        CoordinationOptions(
            handoverDeadline: try value(Settings.handoverDeadline),
            handoverHardMaximum: try value(Settings.handoverHardMaximum),
            onDeadline: try value(Settings.handoverOnDeadline),
            executorBudget: try value(Settings.executorBudget),
            inboxLifetime: try value(Settings.inboxLifetime))
    }

    /// Who watches that no two cores of the group run at once; nil where the group has no directory.
    func witness() throws(CommandFailure) -> (any Witness)? {
        guard try value(Settings.backend) != "memory" else { return nil }
        return FileWitness(besideGroup: try groupDirectory())
    }
}
