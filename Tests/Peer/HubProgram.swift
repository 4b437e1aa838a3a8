#if ZMQ
    internal import CoreAPI
    internal import FileNotifyBackend
    internal import Glibc
    internal import InMemoryBackend
    internal import ZMQBackend

    /// A hub that a test runs in a process of its own: `<endpoint> <directory or memory> [<lease in ms> [<secret key> <client's
    /// public key> [<bytes for each client>]]]`. It says where it listens, or why it does not, then which peers it has
    /// refused, and runs until it is ended.
    enum HubProgram {
        static func run(_ words: [String]) async {
            do {
                guard words.count >= 2 else {
                    throw SharedCoreError(.invalidArgument, "An endpoint and a directory are missing.", at: "arguments")
                }
                let storage: HubOptions.Storage =
                    words[1] == "memory"
                    ? .memory(MemorySpace()) : .files(directory: words[1], FileGroupOptions(historyByteCount: 1 << 20))
                var options = HubOptions(group: "group", storage: storage, endpoints: [try HubEndpoint(words[0])])
                if words.count > 2, let milliseconds = Int(words[2]) { options.lease = .milliseconds(milliseconds) }
                if words.count > 4 {
                    options.keys = try CurveHubKeys(own: CurveKeyPair(secretKey: words[3]), clients: [words[4]])
                }
                if words.count > 5, let byteCount = Int(words[5]) { options.clientMemory = byteCount }
                options.onRefusal = { say("stranger \($0.code): \($0.message)") }
                let hub = try await Hub.start(options)
                say("ready \(hub.endpoints[0])")
                while true { try await Task.sleep(for: .seconds(3600)) }
            } catch {
                say("refused \(error)")
            }
        }

        private static func say(_ line: String) {
            print(line)
            fflush(nil)
        }
    }
#endif
