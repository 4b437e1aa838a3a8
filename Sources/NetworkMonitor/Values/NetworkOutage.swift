/// Why a machine is not connected: what is missing first, on the way from the cable to the router.
public enum NetworkOutage: Hashable, Sendable, CustomStringConvertible {
    /// There is no interface but the one to the machine itself.
    case interface
    /// No interface is up and carries packets.
    case carrier
    /// No interface that carries packets has an address that is valid beyond its link.
    case address
    /// No route leads to everywhere through an interface that has all that.
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
