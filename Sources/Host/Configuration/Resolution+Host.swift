internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FileNotifyBackend
internal import Lifecycle
internal import SharedCoreConfiguration

/// The host's part of the configuration, beyond the group itself.
extension Resolution {
    /// Returns the queue of a group's pushes with the configured limits and routes.
    func pushQueue(of group: any SharedStore) throws -> PushQueue {
        try PushQueue(
            of: group, capacity: try pushCapacity(isResident: group.residentValueByteCount == nil),
            routes: try optional(Settings.pushRoutes) ?? PushRoutes(),
            lifetime: try value(Settings.inboxLifetime))
    }

    /// Returns the maximum number of pushes. Each Executor has all of them in its memory.
    ///
    /// - Parameter isResident: True if each Executor also has their largest records in memory.
    func pushCapacity(isResident: Bool) throws(ConfigurationFailure) -> PushQueue.Capacity {
        let count = try value(Settings.pushCapacity)
        guard let memory = try value(Settings.executorMemory) else { return PushQueue.Capacity(count: count) }
        return PushQueue.Capacity(
            count: min(count, Int(clamping: memory / PushQueue.memoryOfPush)),
            byteCount: Int(
                clamping: memory / (isResident ? PushQueue.residentPartOfMemory : PushQueue.partOfMemory)))
    }

    /// Returns the program that runs as the core; nil for the core with a Maildir. The program finds the
    /// group's configuration in its environment.
    func coreProgram() throws(ConfigurationFailure) -> CoreCommand? {
        guard let words = try coreCommand() else { return nil }
        return CoreCommand(
            words, variables: try variablesOfCore(), startTimeout: try value(Settings.coreStartTimeout))
    }

    /// Returns the variables of the configuration for the environment of a core's program and of the command of
    /// `exclusive`. With them, another program started there reaches the same group.
    func variablesOfCore() throws(ConfigurationFailure) -> [String: String] {
        var variables = try variables()
        variables[Settings.group.erased.environmentName] = try value(Settings.group)
        return variables
    }

    /// Returns the Maildir of the cores; nil if they are programs.
    func maildirOfCores() throws(ConfigurationFailure) -> String? {
        try coreCommand() == nil ? try maildir() : nil
    }

    /// Returns the Maildir that a host is to watch if the cores of its Executors read another one, because no setting
    /// names it for them; nil otherwise.
    func unreadMaildir() throws(ConfigurationFailure) -> String? {
        guard let watched = try absolutePath(Settings.pushMaildir), find(Settings.coreMaildir.erased) == nil,
            find(Settings.executorCommand.erased) == nil, try coreCommand() == nil
        else { return nil }
        return try watched == maildir() ? nil : watched
    }

    /// Returns the socket at which the page of the group is served as a service.
    func pageSocket() throws(ConfigurationFailure) -> String { try runtimeDirectory() + "/page" }

    /// Makes the directory for the group's sockets, which this user alone may enter.
    func makeRuntimeDirectory() throws {
        let path = try runtimeDirectory()
        do throws(SharedCoreError) {
            _ = try PrivateDirectory.open(path)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Returns the witness that no two cores of the group run at once on this machine; nil if the group has no
    /// directory.
    func witness() throws -> (any Witness)? {
        guard try value(Settings.backend) != "memory" else { return nil }
        let directory = try groupDirectory()
        // A hub may store the group elsewhere, so the directory may not exist yet.
        if try value(Settings.backend) != "file" {
            do throws(SharedCoreError) {
                _ = try PrivateDirectory.open(directory)
            } catch {
                throw try CommandFailure.opening(error, with: self)
            }
        }
        return FileWitness(besideGroup: directory)
    }

    /// Returns the table of service levels, with the configured rows in place of the defaults.
    func serviceLevels() throws(ConfigurationFailure) -> ServiceLevelTable {
        var overrides: [ServiceLevelOverride] = []
        for service in Service.allCases {
            for application in Settings.levelledStates {
                let setting = Settings.level(of: service, in: application)
                guard find(setting.erased) != nil else { continue }
                let level = try value(setting)
                do throws(LifecycleError) {
                    overrides.append(try ServiceLevelOverride(service, in: application, to: level))
                } catch {
                    throw ConfigurationFailure("\(setting.name): \(error.message)")
                }
            }
        }
        return ServiceLevelTable(replacing: overrides)
    }
}
