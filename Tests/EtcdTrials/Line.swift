#if Etcd
    internal import EtcdBackend
    internal import Glibc
    internal import Platform
    internal import Synchronization

    /// A line between clients and one member, on which a trial can hold up messages.
    final class Line: Sendable {
        /// The port to which clients connect.
        let port: Int

        private enum Mode {
            /// Everything passes.
            case open
            /// Bytes of clients are kept. Answers pass.
            case holding
            /// Bytes of members are lost. Those of clients pass.
            case losing
            /// Nothing of clients is read, not even their ends. Kept bytes may be passed on.
            case deaf
        }

        private struct State {
            var mode = Mode.open
            /// The text of a client from which on its bytes are kept; nil for none.
            var word: String?
            var heldCount = 0
            var lostCount = 0
            var connectionCount = 0
            var isReleased = false
            var isBroken = false
            var isOver = false

            /// Returns the present state of the line. The order to end connections is returned once.
            mutating func takeWord() -> State {
                defer { isBroken = false }
                return self
            }
        }

        private final class Pair {
            let client: OpenFile
            let member: OpenFile
            var held: [UInt8] = []

            init(_ client: OpenFile, _ member: OpenFile) {
                self.client = client
                self.member = member
            }
        }

        private let state = Mutex(State())
        private let wake: EventCounter

        init(to node: Node) throws {
            let wake = try EventCounter()
            self.wake = wake
            let listener = try Self.socket()
            port = try Self.listen(at: listener)
            let member = node.endpoint.port
            try OwnedThread.start("line") { [weak self] in
                Self.carry(from: listener, to: member, wake) { self }
            }
        }

        /// Releases everything, also the connections.
        func end() {
            set { $0.isOver = true }
        }

        func hold() { set { $0.mode = .holding } }
        /// Holds back the bytes of a client, beginning with a text.
        func hold(from word: String) { set { $0.word = word } }
        func lose() { set { $0.mode = .losing } }
        /// Reads no more from clients, so that the member receives neither their ends nor their cancellations.
        func stop() { set { $0.mode = .deaf } }
        /// Passes on the bytes that were held up.
        func release() { set { $0.isReleased = true } }

        /// Ends the present connections. On new ones everything passes.
        func breakConnections() {
            set { state in
                state.isBroken = true
                state.mode = .open
            }
        }

        /// The number of kept bytes of clients.
        var heldCount: Int { state.withLock { $0.heldCount } }
        /// The number of lost bytes of members.
        var lostCount: Int { state.withLock { $0.lostCount } }
        var connectionCount: Int { state.withLock { $0.connectionCount } }

        private func set(_ change: (inout State) -> Void) {
            state.withLock { change(&$0) }
            wake.raise()
        }

        private static func carry(
            from listener: OpenFile, to port: Int, _ wake: EventCounter, _ line: () -> Line?
        ) {
            var pairs: [Pair] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while let state = line()?.state.withLock({ $0 }), !state.isOver {
                // A client with bytes that are not read is not polled, or its end would be reported again and again.
                let clients = pairs.map { state.mode == .deaf ? -1 : $0.client.descriptor }
                let ready = Poll.wait(
                    for: [wake.descriptor, listener.descriptor] + clients + pairs.map(\.member.descriptor),
                    timeout: .milliseconds(200))
                let pairCount = pairs.count
                if ready[0] { wake.clear() }
                // The state as it is now: bytes that came before a trial's change of state are treated by it.
                guard let state = line()?.state.withLock({ $0.takeWord() }) else { return }
                var mode = state.mode
                if state.isBroken { pairs = [] }
                var dead: Set<Int> = []
                for (index, pair) in pairs.enumerated() {
                    if ready[2 + index], mode != .deaf {
                        let count = read(pair.client.descriptor, &buffer, buffer.count)
                        if let word = state.word, mode == .open,
                            String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).contains(word)
                        {
                            mode = .holding
                            line()?.hold()
                        }
                        if count <= 0 {
                            dead.insert(index)
                        } else if mode == .holding {
                            pair.held += buffer.prefix(count)
                        } else if !send(buffer.prefix(count), to: pair.member) {
                            dead.insert(index)
                        }
                    }
                    if ready[2 + pairCount + index] {
                        let count = read(pair.member.descriptor, &buffer, buffer.count)
                        if count <= 0 {
                            dead.insert(index)
                        } else if mode == .losing || mode == .deaf {
                            line()?.state.withLock { $0.lostCount += count }
                        } else if !send(buffer.prefix(count), to: pair.client) {
                            dead.insert(index)
                        }
                    }
                    if state.isReleased, !pair.held.isEmpty {
                        _ = send(pair.held[...], to: pair.member)
                        pair.held = []
                    }
                }
                for index in dead.sorted(by: >) { pairs.remove(at: index) }
                if ready[1], let pair = accepted(by: listener, to: port) { pairs.append(pair) }
                let (held, count) = (pairs.reduce(0) { $0 + $1.held.count }, pairs.count)
                line()?.state.withLock { state in
                    state.heldCount = held
                    state.connectionCount = count
                }
            }
        }

        private static func accepted(by listener: OpenFile, to port: Int) -> Pair? {
            let descriptor = accept(listener.descriptor, nil, nil)
            guard descriptor >= 0 else { return nil }
            let client = OpenFile(owning: descriptor, path: "client")
            guard let member = try? socket() else { return nil }
            var address = loopback(port)
            let connected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(member.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return connected == 0 ? Pair(client, member) : nil
        }

        private static func send(_ bytes: ArraySlice<UInt8>, to file: OpenFile) -> Bool {
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(file.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        private static func listen(at listener: OpenFile) throws -> Int {
            var address = loopback(0)
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener.descriptor, $0, size) == 0 && Glibc.listen(listener.descriptor, 64) == 0
                        && getsockname(listener.descriptor, $0, &size) == 0
                }
            }
            guard bound else { throw SystemCallError("bind", number: errno, at: "127.0.0.1") }
            return Int(UInt16(bigEndian: address.sin_port))
        }

        private static func socket() throws -> OpenFile {
            // SOCK_CLOEXEC, which is an enumerator that Swift does not see.
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
            guard descriptor >= 0 else { throw SystemCallError("socket", number: errno, at: "line") }
            return OpenFile(owning: descriptor, path: "line")
        }

        private static func loopback(_ port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            return address
        }
    }
#endif
