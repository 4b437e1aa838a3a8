internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// A service manager that receives the notifications of a service.
final class ServiceManager: Sendable {
    let address: String
    private let stopping: EventCounter
    private let heard = Heard()

    private final class Heard: Sendable {
        let messages = Mutex<[String]>([])
    }

    /// - Parameter path: The path of its socket; an abstract name after an `@`.
    init(path: String) throws {
        address = path
        stopping = try EventCounter()
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | 0o2000000, 0)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &target.sun_path) { place in
            place.copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { place[0] = 0 }
        }
        let length = socklen_t(
            MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == UInt8(ascii: "@") ? 0 : 1))
        let code = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard code == 0 else { throw FileProblem(path: path, code: errno) }
        let (stopping, heard) = (stopping, heard)
        try OwnedThread.start("manager") { Self.listen(to: descriptor, until: stopping, heard) }
    }

    deinit {
        stopping.raise()
    }

    /// Listens all the time: a socket holds a few messages only.
    private static func listen(to descriptor: Int32, until stopping: EventCounter, _ heard: Heard) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !Poll.wait(for: [stopping.descriptor, descriptor], timeout: nil)[0] {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { continue }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            heard.messages.withLock { $0.append(text) }
        }
        close(descriptor)
    }

    /// The messages so far.
    var messages: [String] { heard.messages.withLock { $0 } }

    /// Waits until the notifications received satisfy a condition.
    func until(_ isSo: @escaping @Sendable ([String]) -> Bool) async throws {
        try await eventually("what the service says, not \(messages)", timeout: TestTimeout.long) { isSo(messages) }
    }
}
