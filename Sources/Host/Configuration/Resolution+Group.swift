internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FileNotifyBackend

extension Resolution {
    /// The group that is configured, as its backend is told.
    func backendConfiguration() throws(CommandFailure) -> BackendConfiguration {
        let backend = try value(Settings.backend)
        var configuration = BackendConfiguration(
            backend: backend, group: try value(Settings.group), stateDirectory: try stateDirectory(),
            durability: try value(Settings.durability))
        #if ZMQ
            if backend == "zmq" {
                configuration.settings = try hubSettings()
                // What is in a hub's memory survives nothing.
                if try value(Settings.zmqStorage) == "memory" { configuration.durability = nil }
            }
        #endif
        #if Etcd
            if backend == "etcd" { configuration.settings = try etcdSettings() }
        #endif
        return configuration
    }
}

extension Resolution {
    /// The pushes of a group, as this configuration keeps and routes them.
    func pushQueue(of group: any SharedStore) throws -> PushQueue {
        try PushQueue(
            of: group, capacity: try pushCapacity(isResident: group.residentValueByteCount == nil),
            routes: try optional(Settings.pushRoutes) ?? PushRoutes(),
            lifetime: try value(Settings.inboxLifetime))
    }

    /// The most pushes that are kept: all are in the memory of each Executor.
    ///
    /// - Parameter isResident: Whether the largest of their records are there as well.
    func pushCapacity(isResident: Bool) throws(CommandFailure) -> PushQueue.Capacity {
        let count = try value(Settings.pushCapacity)
        guard let memory = try value(Settings.executorMemory) else { return PushQueue.Capacity(count: count) }
        return PushQueue.Capacity(
            count: min(count, Int(clamping: memory / PushQueue.memoryOfPush)),
            byteCount: Int(
                clamping: memory / (isResident ? PushQueue.residentPartOfMemory : PushQueue.partOfMemory)))
    }

    /// How ownership and messages are handled.
    func coordinationOptions() throws(CommandFailure) -> CoordinationOptions {
        let timeout = try value(Settings.handoverTimeout)
        let maximum = try value(Settings.handoverMaximumTimeout)
        guard timeout <= maximum else {
            var found = try find(Settings.handoverTimeout.erased)
            if found == nil { found = try find(Settings.handoverMaximumTimeout.erased) }
            throw .configuration(
                (found.map { "\($0.origin): " } ?? "") + "handover.timeout is \(DurationText.write(timeout)); "
                    + "it must not be longer than handover.maximumTimeout, which is \(DurationText.write(maximum)).")
        }
        return CoordinationOptions(
            handoverTimeout: timeout, handoverMaximumTimeout: maximum,
            onHandoverTimeout: try value(Settings.handoverOnTimeout),
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
