#if Etcd
    internal import EtcdBackend
    internal import Glibc

    /// The counts of a member, as it reports them at `/metrics`.
    struct Metrics {
        private let lines: [Substring]

        init(of endpoint: EtcdCluster.Endpoint) throws {
            lines = try Self.page(of: endpoint).split(separator: "\n").filter { !$0.hasPrefix("#") }
        }

        /// The sum of a metric over its lines; with `call`, over the lines of this gRPC method.
        func sum(_ name: String, of call: String? = nil) -> Double {
            lines.reduce(0) { sum, line in
                guard line.hasPrefix(name), let rest = line.dropFirst(name.count).first, rest == " " || rest == "{",
                    call.map({ line.contains("grpc_method=\"\($0)\"") }) ?? true,
                    let value = line.split(separator: " ").last.flatMap({ Double($0) })
                else { return sum }
                return sum + value
            }
        }

        /// The calls of a kind that have begun and not ended.
        func open(_ call: String) -> Int {
            Int(sum("grpc_server_started_total", of: call) - sum("grpc_server_handled_total", of: call))
        }

        var isLeader: Bool { sum("etcd_server_is_leader") > 0 }

        private static func page(of endpoint: EtcdCluster.Endpoint) throws -> String {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw TrialFailure(description: "no socket for a member's metrics") }
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(endpoint.port).bigEndian
            address.sin_addr.s_addr = inet_addr(endpoint.host)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            let request = Array("GET /metrics HTTP/1.0\r\n\r\n".utf8)
            guard isConnected, write(descriptor, request, request.count) == request.count else {
                throw TrialFailure(description: "\(endpoint) does not take a request for its metrics")
            }
            var page: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = read(descriptor, &part, part.count), count > 0 { page += part[..<count] }
            return String(decoding: page, as: UTF8.self)
        }
    }
#endif
