#if Etcd
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    /// A member of a cluster on this machine, which a trial kills, stops and starts.
    final class Node {
        let name: String
        let endpoint: EtcdCluster.Endpoint
        private let arguments: [String]
        private let path: String
        /// The command that runs the program, for example in another network namespace.
        private let entry: [String]
        private let log: String
        private var program: StartedProgram?

        /// - Parameters:
        ///   - index: Its place among the members.
        ///   - ports: The ports of all members, for clients and among themselves.
        ///   - path: The program.
        ///   - directory: The directory of its files.
        ///   - prefix: The beginning of its name, which no other cluster's members have.
        ///   - host: The address at which it listens.
        ///   - entry: The command that runs the program, with its arguments; empty for none.
        ///   - isSecure: True if it accepts clients over secured connections alone.
        ///   - more: Further arguments.
        init(
            _ index: Int, of ports: [(client: Int, peer: Int)], path: String, in directory: String,
            named prefix: String = "n", host: String = "127.0.0.1", through entry: [String] = [],
            isSecure: Bool = false, _ more: [String] = []
        ) throws {
            self.path = path
            self.entry = entry
            name = "\(prefix)\(index)"
            endpoint = try EtcdCluster.Endpoint("\(host):\(ports[index].client)")
            log = "\(directory)/\(name).log"
            let client = "\(isSecure ? "https" : "http")://\(host):\(ports[index].client)"
            let peer = "http://\(host):\(ports[index].peer)"
            let all = ports.enumerated().map { "\(prefix)\($0.offset)=http://\(host):\($0.element.peer)" }
            arguments =
                [
                    "--name", name, "--data-dir", "\(directory)/\(name)", "--listen-client-urls", client,
                    "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls",
                    peer,
                    "--initial-cluster", all.joined(separator: ","), "--log-level", "error",
                ] + more
        }

        deinit {
            kill()
        }

        func start() throws {
            let output = try OpenFile(path: log, .create)
            let words = entry + [path] + arguments
            program = try StartedProgram(
                words[0], Array(words.dropFirst()), streams: [OpenFile(path: "/dev/null", .read), output, output])
        }

        var processID: Int32? { program?.pid }

        func stop() { signal(SIGSTOP) }
        func resume() { signal(SIGCONT) }

        func kill() {
            guard let program else { return }
            program.kill()
            _ = try? program.waitForEnd()
            self.program = nil
        }

        private func signal(_ number: Int32) {
            if let program { Glibc.kill(program.pid, number) }
        }
    }
#endif
