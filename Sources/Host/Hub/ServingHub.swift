internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

#if ZMQ
    internal import ZMQBackend
#endif

/// The place of a group's hub on this machine, and the process that serves there.
struct ServingHub: Hashable, Sendable {
    let endpoint: String
    /// The process id of the hub; nil if none serves.
    let pid: Int32?

    var json: JSONObject { ["endpoint": .text(endpoint), "pid": pid.map { .integer(Int64($0)) } ?? .null] }

    var sentence: String { pid.map { "\(endpoint), pid \($0)" } ?? "none serves at \(endpoint)" }
}

extension CommandContext {
    /// Returns the group's hub on this machine; nil with another backend, and for a hub at a port, which may be on
    /// another machine.
    func servingHub() throws -> ServingHub? {
        #if ZMQ
            guard try resolution.value(Settings.backend) == "zmq",
                case .ipc(let path) = try resolution.hubEndpoint()
            else { return nil }
            let seat = try HubEndpointState.ofSocket(path)
            let endpoint = "\(try resolution.hubEndpoint())"
            if case .serving(let process) = seat { return ServingHub(endpoint: endpoint, pid: process.pid) }
            return ServingHub(endpoint: endpoint, pid: nil)
        #else
            return nil
        #endif
    }
}
