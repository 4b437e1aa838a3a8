internal import NetworkMonitor
internal import Testing

/// Real networks, each in a namespace, and real reports. `wan` is an end of a cable, and `far` its other end.
@Suite(
    "Networks of one's own", .timeLimit(.minutes(10)),
    .enabled("needs network namespaces (root, or user namespaces), iproute2 and veth", OwnNetwork.isAllowed))
struct NamespaceTests {
    private static let cable = "ip link add wan type veth peer name far; ip link set far up; ip link set wan up"
    private static let connected =
        cable + "; ip addr add 192.0.2.7/24 dev wan; ip route add default via 192.0.2.1"
    private let wan = "connected through wan (192.0.2.7) by 192.0.2.1"

    @Test("From nothing to a connection, and what is missing at each step")
    func connecting() async throws {
        let network = try await OwnNetwork()
        try await network.says("disconnected: there is no interface to a network")
        try await network.run("ip link add wan type veth peer name far")
        try await network.says("disconnected: no interface is up and carries packets")
        try await network.run("ip link set far up; ip link set wan up")
        try await network.says("disconnected: no interface that carries packets has an address")
        try await network.run("ip addr add 192.0.2.7/24 dev wan")
        try await network.says("disconnected: no default route leads out")
        try await network.run("ip route add default via 192.0.2.1")
        try await network.says(wan)
        try await network.run("ip link del wan")
        try await network.says("disconnected: there is no interface to a network")
        let lines = network.lines
        #expect(!zip(lines, lines.dropFirst()).contains(where: ==), "no state is told twice in a row: \(lines)")
    }

    @Test("A connection that stands is known from the start; a cable that is pulled and put back is noticed")
    func cable() async throws {
        let network = try await OwnNetwork(Self.connected)
        try await network.says(wan)
        try await network.run("ip link set far down")
        try await network.says("disconnected: no interface is up and carries packets")
        try await network.run("ip link set far up")
        try await network.says(wan)
    }

    @Test("With an interface that is switched off goes its route, of which the kernel says nothing")
    func switchedOff() async throws {
        let network = try await OwnNetwork(Self.connected)
        try await network.says(wan)
        try await network.run("ip link set wan down; ip link set wan up")
        try await network.says("disconnected: no default route leads out")
        try await network.run("ip route add default via 192.0.2.1")
        try await network.says(wan)
    }

    @Test("With the last address goes the route, of which the kernel says nothing")
    func addressRemoved() async throws {
        let network = try await OwnNetwork(Self.connected)
        try await network.says(wan)
        try await network.run("ip addr del 192.0.2.7/24 dev wan")
        try await network.says("disconnected: no interface that carries packets has an address")
        try await network.run("ip addr add 192.0.2.7/24 dev wan")
        try await network.says("disconnected: no default route leads out")
    }

    @Test("A default route that is taken away, given back and replaced")
    func routes() async throws {
        let network = try await OwnNetwork(Self.connected)
        try await network.says(wan)
        try await network.run("ip route del default")
        try await network.says("disconnected: no default route leads out")
        try await network.run("ip route add default via 192.0.2.1")
        try await network.says(wan)
        try await network.run("ip route replace default via 192.0.2.2")
        try await network.says("connected through wan (192.0.2.7) by 192.0.2.2")
    }

    @Test("Addresses and routes of version 6")
    func version6() async throws {
        let network = try await OwnNetwork(Self.cable)
        try await network.run("ip addr add 2001:db8::7/64 dev wan nodad; ip -6 route add default via 2001:db8::1")
        try await network.says("connected through wan (2001:db8::7) by 2001:db8::1")
        try await network.run("ip -6 route add unreachable default metric 1; ip -6 route del default via 2001:db8::1")
        try await network.says("disconnected: no default route leads out")
    }

    @Test("Of two connections the one that is taken first stands first; with one left the machine is connected")
    func twoConnections() async throws {
        let second = "ip link add mobile type veth peer name tower; ip link set tower up; ip link set mobile up"
        let network = try await OwnNetwork(
            "\(Self.connected); \(second); ip addr add 198.51.100.7/24 dev mobile;"
                + "ip route add default via 198.51.100.1 metric 600")
        let mobile = "mobile (198.51.100.7) by 198.51.100.1"
        try await network.says("\(wan), \(mobile)")
        try await network.run("ip link set far down")
        try await network.says("connected through \(mobile)")
        try await network.run("ip link set far up")
        try await network.says("\(wan), \(mobile)")
    }

    @Test("After more reports than the kernel keeps, it reads everything again")
    func overflow() async throws {
        let network = try await OwnNetwork(Self.connected)
        try await network.says(wan)
        try await network.stop()
        // Each of them is a report or two that no thread reads, and the decisive one comes last.
        try await network.run(
            """
            for i in $(seq 0 9); do for j in $(seq 1 200); do echo addr add 10.$i.$j.1/32 dev wan; done; done | ip -batch -
            ip route del default
            """)
        network.goOn()
        try await network.says("disconnected: no default route leads out, after losses")
    }
}
