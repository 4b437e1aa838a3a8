import Coordination
import CoreAPI
import Glibc
import InMemoryBackend
import SIPCore
import Testing

/// Without a registrar: a socket takes the requests, and nothing answers them.
struct TelephoneTests {
    @Test("Each send that waits ends with the core, also one that the core did not come to", .timeLimit(.minutes(2)))
    func endsWithTheCore() async throws {
        let (socket, port) = try silentPort()
        defer { close(socket) }
        let account = SIPAccount(
            user: "alice", domain: "sc.test", password: SIPPassword("Tea"), registrar: "127.0.0.1", port: port,
            transport: .udp,
            instance: "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
        let telephone = try SIPTelephone(account)
        await expectError(.unavailable) { try await telephone.send("Tea?", to: "sip:bob@sc.test") }
        let group = try await MemorySpace().open("phone", as: SessionDescription(role: .main))
        let sending = Task {
            await withTaskGroup { sends in
                while !Task.isCancelled {
                    sends.addTask { await self.sendInVain(by: telephone) }
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
        }
        try await group.withMain(core: { telephone.makeCore() }) { _ in try await Task.sleep(for: .milliseconds(500)) }
        sending.cancel()
        await sending.value
        await group.close()
    }

    @Test(
        "A text that would change the meaning of a header or a URI is refused",
        arguments: ["alice:secret", "alice@host", "alice>", "alice;x=y", "alice\r\nVia", "a b", "", "[alice]"])
    func refuses(_ user: String) {
        let account = SIPAccount(
            user: user, domain: "sc.test", password: SIPPassword("Tea"), registrar: "127.0.0.1", instance: "urn:uuid:1")
        #expect { try SIPTelephone(account) } throws: { ($0 as? SharedCoreError)?.code == .invalidArgument }
    }

    private func silentPort() throws -> (socket: Int32, port: UInt16) {
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
            }
        }
        try #require(result == 0)
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    private func sendInVain(by telephone: SIPTelephone) async {
        do throws(SharedCoreError) {
            try await telephone.send("Tea?", to: "sip:bob@sc.test")
            Issue.record("No one answers, and the message was sent.")
        } catch {
            #expect(error.code == .outcomeUnknown || error.code == .unavailable, "\(error)")
        }
    }

    private func expectError(_ code: SharedCoreError.Code, _ body: () async throws -> Void) async {
        await #expect { try await body() } throws: { ($0 as? SharedCoreError)?.code == code }
    }
}
