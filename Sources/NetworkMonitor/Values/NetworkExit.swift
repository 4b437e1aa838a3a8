/// A way by which packets leave for other networks.
public struct NetworkExit: Hashable, Sendable, CustomStringConvertible {
    /// The name of the interface, such as `eth0`.
    public let interface: String
    public let family: IPAddress.Family
    /// The router; nil where everybody is behind the interface itself.
    public let gateway: IPAddress?
    /// The addresses that packets may come from, in a fixed order.
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
