import Foundation
import Testing

/// The program in a network of its own, which is taken away and given back, as the kernel reports it.
@Suite(
    "A real network", .timeLimit(.minutes(5)),
    .enabled("needs network namespaces (root, or user namespaces), iproute2 and veth", LiveNetwork.isAllowed))
struct LiveTests {
    @Test("A cable that is pulled and put back: T1, then T2 with everything; a message in the sleep: T11")
    func cable() async throws {
        let network = try LiveNetwork()
        try await network.sees { $0.hasPrefix("connected through wan") }
        try await network.sees { $0.hasPrefix("T2 networkBack: foreground, disconnected → foreground, connected") }
        try await network.run("ip link set far down")
        try await network.sees { $0.hasPrefix("T1 networkLost") }
        try await network.run("ip link set far up")
        try await network.sees { $0.hasPrefix("T2 networkBack") }
        try network.type("background")
        try await network.sees { $0.hasPrefix("T8 toBackground") }
        try network.type("sleep")
        try await network.sees { $0.hasPrefix("T6 prepareForBackground is done: background, connected → suspended") }
        try network.type("Lunch?")
        try await network.sees { $0.hasPrefix("T11 dataOnKeptSocket") }
        try await network.sees { $0.hasPrefix("T11 prepareForBackground is done") }
        try await network.run("ip route del default")
        try await network.sees { $0.hasPrefix("T13 networkLost") }
        #expect(try await network.leave() == 0)
    }
}
