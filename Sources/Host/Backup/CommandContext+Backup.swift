internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

#if ZMQ
    internal import ZMQBackend
#endif

extension CommandContext {
    /// Returns the directory of the configured group, for a command that works on its files.
    func directoryOfFiles(for command: String) throws -> String {
        guard try isInFiles else {
            throw CommandFailure.usage(
                "“\(command)” is for groups in files of this machine, with the backend file or behind a hub on files that "
                    + "is reached by ipc. For a hub on files at a port of this machine, give --backend file.")
        }
        #if ZMQ
            if try resolution.value(Settings.backend) == "zmq", case .ipc(let socket) = try resolution.hubEndpoint(),
                try Self.isOnMemory(at: socket)
            {
                throw CommandFailure(
                    .unavailable,
                    "the hub at \(socket) serves its own memory, not the files of the group's directory; “sharedcore hub "
                        + "--stop” ends it, and “\(command)” works on the files then")
            }
        #endif
        return try resolution.groupDirectory()
    }

    /// Returns the directory of the configured group if its content is in files of this machine and it exists; nil
    /// otherwise, also behind a hub on memory.
    func presentDirectoryOfFiles() throws -> String? {
        guard try isInFiles else { return nil }
        #if ZMQ
            if try resolution.value(Settings.backend) == "zmq", case .ipc(let socket) = try resolution.hubEndpoint(),
                try Self.isOnMemory(at: socket)
            {
                return nil
            }
        #endif
        let directory = try resolution.groupDirectory()
        return FileGroup.isPresent(in: directory) ? directory : nil
    }

    /// True if a hub has the configured group's files open.
    var hasServingHub: Bool {
        get throws {
            #if ZMQ
                if try resolution.value(Settings.backend) == "zmq", case .ipc(let socket) = try resolution.hubEndpoint()
                {
                    let seat = try? HubEndpointState.ofSocket(socket)
                    return seat != nil && seat != .free && seat != .abandoned
                }
            #endif
            return false
        }
    }

    #if ZMQ
        private static func isOnMemory(at socket: String) throws -> Bool {
            do throws(SharedCoreError) {
                return try HubEndpointState.isOnMemory(atSocket: socket)
            } catch {
                throw CommandFailure(error)
            }
        }
    #endif

    /// True if the configured group's content is in files of this machine.
    var isInFiles: Bool {
        get throws {
            let backend = try resolution.value(Settings.backend)
            #if ZMQ
                // The files of a hub on another machine cannot be read from here.
                if backend == "zmq", try resolution.value(Settings.zmqStorage) != "memory" {
                    if case .ipc = try resolution.hubEndpoint() { return true }
                }
            #endif
            return backend == "file"
        }
    }

    /// Returns the absolute path of the directory of a backup that the user has given as an argument.
    func path(ofBackup text: String) throws -> String {
        guard !text.isEmpty else { throw CommandFailure.usage("the directory is empty, as an unset variable is") }
        return try resolution.absolutePath(text)
    }

    /// Runs blocking work on files, on a thread of its own.
    func onFiles<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        try await SerialThread(name: "sc-files").run(body)
    }

    /// Reports the written content and its place.
    func emit(_ summary: GroupSummary, _ verb: String, at path: String) async throws {
        try await output.emit(
            text: "\(verb) \(path): \(summary.keyCount.counting("key")), \(summary.byteCount.counting("byte")), "
                + "revision \(summary.revision)",
            json: json(of: summary, at: path))
    }

    func json(of summary: GroupSummary, at path: String) -> JSONObject {
        [
            "directory": .text(path), "revision": .natural(summary.revision.rawValue),
            "keys": .integer(Int64(summary.keyCount)), "bytes": .integer(Int64(summary.byteCount)),
        ]
    }
}
