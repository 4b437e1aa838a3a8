/// Whether this machine is connected to other networks, and by what or why not.
///
/// Connected means that there is a default route of the main table through an interface that is up and carries packets, and
/// that it has an address from which they can come. Whether a server behind it answers is for the one who asks it.
public struct NetworkState: Hashable, Sendable, CustomStringConvertible {
    /// The ways out, the one that is taken first first; none while the machine is not connected.
    public let exits: [NetworkExit]
    /// Why the machine is not connected; nil while it is.
    public let outage: NetworkOutage?

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

    /// Whether packets can leave from an address. A connection from one that is gone is dead, although the machine may be
    /// connected by another.
    public func canSend(from address: IPAddress) -> Bool {
        exits.contains { $0.addresses.contains(address) }
    }

    public var description: String {
        outage.map { "disconnected: \($0)" }
            ?? "connected through " + exits.map(\.description).joined(separator: ", ")
    }
}
