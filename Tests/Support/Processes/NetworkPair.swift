internal import CoreAPITesting
internal import Glibc
internal import Platform

/// Two network namespaces with a cable between them: as two machines, of which each has its own loopback, addresses and
/// ports. They are gone with the last reference. Needs root, namespaces and the program `ip` (iproute2).
package final class NetworkPair: Sendable {
    /// The addresses at the two ends.
    package let hubAddress: String
    package let clientAddress: String

    private let names: (hub: String, client: String)
    /// The program that makes the namespaces; nil where it is missing.
    package static let ip: String? = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].first { path in
        access(path, X_OK) == 0
    }

    /// True if this process may make such namespaces on this machine.
    package static let isAllowed = (try? NetworkPair()) != nil

    package init() throws {
        let name = "sc" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let net = "10.\(UInt8.random(in: 100..<200)).\(UInt8.random(in: 0..<255))"
        names = (name + "h", name + "c")
        (hubAddress, clientAddress) = (net + ".1", net + ".2")
        do {
            for name in [names.hub, names.client] { try Self.run("netns", "add", name) }
            try Self.run(
                "link", "add", names.hub, "netns", names.hub, "type", "veth", "peer", "name", names.client, "netns",
                names.client)
            for (name, address) in [(names.hub, hubAddress), (names.client, clientAddress)] {
                try Self.run("-n", name, "address", "add", address + "/24", "dev", name)
                for device in ["lo", name] { try Self.run("-n", name, "link", "set", device, "up") }
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit {
        remove()
    }

    private func remove() {
        for name in [names.hub, names.client] { try? Self.run("netns", "delete", name) }
    }

    /// The command that runs a program at the hub's end, or at the client's.
    package var atHub: [String] { [Self.ip ?? "ip", "netns", "exec", names.hub] }
    package var atClient: [String] { [Self.ip ?? "ip", "netns", "exec", names.client] }

    /// Disconnects the cable at the hub's end. No connection is notified.
    package func cut() throws { try Self.run("-n", names.hub, "link", "set", names.hub, "down") }
    package func heal() throws { try Self.run("-n", names.hub, "link", "set", names.hub, "up") }

    private static func run(_ arguments: String...) throws {
        guard let ip else { throw HarnessLimitation("there is no program “ip”") }
        let nothing = try OpenFile(path: "/dev/null", .write)
        let status = try StartedProgram(ip, arguments, streams: [nothing, nothing, nothing]).waitForEnd()
        guard status == 0 else { throw HarnessLimitation("“ip \(arguments.joined(separator: " "))”: \(status)") }
    }
}
