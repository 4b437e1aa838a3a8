internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FileNotifyBackend

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

    /// Who watches that no two cores of the group run at once on this machine; nil where the group has no directory.
    func witness() throws(CommandFailure) -> (any Witness)? {
        guard try value(Settings.backend) != "memory" else { return nil }
        let directory = try groupDirectory()
        // A hub may keep the group elsewhere; then nobody has made the directory yet.
        if try value(Settings.backend) != "file" {
            do throws(SharedCoreError) {
                _ = try PrivateDirectory.open(directory)
            } catch {
                throw try .opening(error, with: self)
            }
        }
        return FileWitness(besideGroup: directory)
    }
}
