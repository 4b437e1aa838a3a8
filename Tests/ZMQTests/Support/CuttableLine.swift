internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import ZMQBackend

/// A line between clients and a server on loopback that can be cut as a network is, without a sign to either side.
///
/// Bytes wait while it is cut, and continue when it is healed.
final class CuttableLine: Sendable {
    /// The port to which clients connect.
    let port: UInt16

    private struct State {
        var isCut = false
        /// True if only the bytes from the server wait.
        var areAnswersCut = false
        var isOver = false
    }

    private let state = Mutex(State())
    private let wake: EventCounter

    /// Makes two lines to a hub over TCP, with consecutive ports, as a hub has.
    static func pair(
        to hub: Hub, bytesPerSecond: Int? = nil
    ) throws -> (requests: CuttableLine, stream: CuttableLine, HubEndpoint) {
        guard case .tcp(_, let port) = hub.endpoints[0] else { throw HarnessLimitation("no TCP") }
        for _ in 0..<50 {
            let first = try CuttableLine(to: port, bytesPerSecond: bytesPerSecond)
            if let second = try? CuttableLine(to: port + 1, at: first.port + 1) {
                return (first, second, .tcp(host: "127.0.0.1", port: first.port))
            }
        }
        throw HarnessLimitation("no two ports that follow each other are free")
    }

    /// Begins to carry the bytes that arrive at `port` to another port.
    ///
    /// - Parameter bytesPerSecond: How much each direction carries at most; nil for all that there is.
    init(to server: UInt16, at port: UInt16 = 0, bytesPerSecond: Int? = nil) throws {
        wake = try EventCounter()
        let listener = try Self.socket()
        var address = Self.loopback(port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener.descriptor, $0, size) }
        }
        guard bound == 0, listen(listener.descriptor, 64) == 0 else {
            throw SystemCallError("bind", number: errno, at: "127.0.0.1:\(port)")
        }
        var length = size
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(listener.descriptor, $0, &length)
            }
        }
        self.port = UInt16(bigEndian: address.sin_port)
        let (state, wake) = (Weak(self), wake)
        try OwnedThread.start("line") { Self.carry(from: listener, to: server, bytesPerSecond, wake) { state.line } }
    }

    deinit {
        wake.raise()
    }

    func cut() { set { $0.isCut = true } }
    /// Holds back the bytes from the server, and passes on those to it.
    func cutAnswers() { set { $0.areAnswersCut = true } }
    func heal() { set { ($0.isCut, $0.areAnswersCut) = (false, false) } }

    private func set(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        wake.raise()
    }

    private final class Weak: @unchecked Sendable {
        weak var line: CuttableLine?
        init(_ line: CuttableLine) { self.line = line }
    }

    private static func carry(
        from listener: OpenFile, to server: UInt16, _ bytesPerSecond: Int?, _ wake: EventCounter,
        _ line: () -> CuttableLine?
    ) {
        var pairs: [(OpenFile, OpenFile)] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while let (isCut, areAnswersCut) = line()?.state.withLock({ ($0.isCut, $0.areAnswersCut) }) {
            // The kernel ignores a negative descriptor.
            let open = pairs.flatMap { [$0.0.descriptor, areAnswersCut ? -1 : $0.1.descriptor] }
            let descriptors = isCut ? [] : [listener.descriptor] + open
            let ready = Poll.wait(for: [wake.descriptor] + descriptors, timeout: .milliseconds(200))
            if ready[0] { wake.clear() }
            guard !isCut else { continue }
            // A buffer is carried in each round.
            if let bytesPerSecond { usleep(UInt32(1_000_000 * buffer.count / bytesPerSecond)) }
            var dead: Set<Int> = []
            for (index, pair) in pairs.enumerated() {
                for (isReady, from, to, isAnswer) in [
                    (ready[2 + 2 * index], pair.0, pair.1, false), (ready[3 + 2 * index], pair.1, pair.0, true),
                ] where isReady {
                    // Bytes sent after a cut are never read before the line is healed, however late this thread runs.
                    let count = line()?.state.withLock { state in
                        state.isCut || isAnswer && state.areAnswersCut
                            ? nil : read(from.descriptor, &buffer, buffer.count)
                    }
                    guard let count = count ?? nil else { continue }
                    if count <= 0 || !send(buffer.prefix(count), to: to) { dead.insert(index) }
                }
            }
            if ready[1], let pair = accepted(by: listener, to: server) { pairs.append(pair) }
            for index in dead.sorted(by: >) { pairs.remove(at: index) }
        }
    }

    private static func accepted(by listener: OpenFile, to server: UInt16) -> (OpenFile, OpenFile)? {
        let descriptor = accept(listener.descriptor, nil, nil)
        guard descriptor >= 0, let onward = try? socket() else { return nil }
        let client = OpenFile(owning: descriptor, path: "client")
        var address = loopback(server)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(onward.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return connected == 0 ? (client, onward) : nil
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

    private static func socket() throws -> OpenFile {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        guard descriptor >= 0 else { throw SystemCallError("socket", number: errno, at: "line") }
        return OpenFile(owning: descriptor, path: "line")
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
