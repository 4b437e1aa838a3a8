/// The connection of this machine to other networks: its exits, or the reason why there is none.
///
/// Connected means that the main table has a default route through an interface that is up and has a carrier, with a
/// usable source address. It does not mean that a server answers.
public struct NetworkState: Hashable, Sendable, CustomStringConvertible {
    /// The exits, the preferred one first; none while the machine is not connected.
    public let exits: [NetworkExit]
    /// The reason why the machine is not connected; nil while it is.
    public let outage: NetworkOutage?

    /// Makes the state of a connected machine.
    ///
    /// - Parameter exits: One or more.
    public init(exits: [NetworkExit]) {
        self.exits = exits
        outage = exits.isEmpty ? .defaultRoute : nil
    }

    public init(_ outage: NetworkOutage) {
        exits = []
        self.outage = outage
    }

    public var isConnected: Bool { outage == nil }

    /// Returns true if packets can be sent from an address. A connection from an address that was removed is dead, even
    /// if the machine is connected through another address.
    public func canSend(from address: IPAddress) -> Bool {
        exits.contains { $0.addresses.contains(address) }
    }

    public var description: String {
        outage.map { "disconnected: \($0)" }
            ?? "connected through " + exits.map(\.description).joined(separator: ", ")
    }
}

/// A way by which packets leave for other networks.
public struct NetworkExit: Hashable, Sendable, CustomStringConvertible {
    /// The name of the interface, such as `eth0`.
    public let interface: String
    public let family: IPAddress.Family
    /// The router; nil if all destinations are directly reachable through the interface.
    public let gateway: IPAddress?
    /// The possible source addresses of packets, in a fixed order.
    public let addresses: [IPAddress]

    public init(interface: String, family: IPAddress.Family, gateway: IPAddress?, addresses: [IPAddress]) {
        self.interface = interface
        self.family = family
        self.gateway = gateway
        self.addresses = addresses
    }

    public var description: String {
        "\(interface) (\(addresses.map(\.description).joined(separator: ", ")))" + (gateway.map { " by \($0)" } ?? "")
    }
}

/// Why a machine is not connected: the first missing part, in the order interface, carrier, address, default route.
public enum NetworkOutage: Hashable, Sendable, CustomStringConvertible {
    /// There is no interface except the loopback interface.
    case interface
    /// No interface is up and carries packets.
    case carrier
    /// No interface with a carrier has an address that is valid beyond its link.
    case address
    /// No default route uses an interface that has a carrier and a usable address.
    case defaultRoute

    public var description: String {
        switch self {
        case .interface: "there is no interface to a network"
        case .carrier: "no interface is up and carries packets"
        case .address: "no interface that carries packets has an address"
        case .defaultRoute: "no default route leads out"
        }
    }
}
