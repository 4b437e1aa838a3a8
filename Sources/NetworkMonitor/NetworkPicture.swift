/// The known state of a machine's networks: links, their addresses, and the default routes.
package struct NetworkPicture: Hashable, Sendable {
    private struct AddressKey: Hashable {
        let link: UInt32
        let address: IPAddress
    }

    private var links: [UInt32: NetworkLink] = [:]
    private var addresses: [AddressKey: LinkAddress] = [:]
    private var routes: Set<DefaultRoute> = []

    package init() {}

    /// Applies a change.
    ///
    /// - Returns: True if the kernel may have removed more than it has reported. Routes disappear without a report when
    ///   a link goes down or loses its last address, and a replaced or removed route may have equal ones.
    package mutating func apply(_ change: NetworkChange) -> Bool {
        switch change {
        case .link(let link):
            let wasUp = links.updateValue(link, forKey: link.index)?.isUp ?? false
            return wasUp && !link.isUp
        case .linkGone(let index):
            guard links.removeValue(forKey: index) != nil else { return false }
            addresses = addresses.filter { $0.key.link != index }
            routes = routes.filter { $0.link != index }
            return true
        case .address(let address):
            addresses[AddressKey(link: address.link, address: address.address)] = address
            return false
        case .addressGone(let address):
            addresses[AddressKey(link: address.link, address: address.address)] = nil
            return true
        case .route(let route):
            routes.insert(route)
            return false
        case .routeGone(let route):
            routes.remove(route)
            return true
        case .routesReplaced(let hops):
            for hop in hops { routes = routes.filter { $0.family != hop.family || $0.priority != hop.priority } }
            routes.formUnion(hops)
            return true
        }
    }

    /// The state of the connection: its exits, or the reason why there is none.
    package var state: NetworkState {
        let exits = exits
        guard exits.isEmpty else { return NetworkState(exits: exits) }
        let outside = links.values.filter { !$0.isLoopback }
        if outside.isEmpty { return NetworkState(.interface) }
        let running = Set(outside.filter(\.isRunning).map(\.index))
        if running.isEmpty { return NetworkState(.carrier) }
        let hasAddress = addresses.values.contains { $0.isUsable && running.contains($0.link) }
        return NetworkState(hasAddress ? .defaultRoute : .address)
    }

    private var exits: [NetworkExit] {
        let ways = routes.compactMap { route -> (route: DefaultRoute, exit: NetworkExit)? in
            guard let link = links[route.link], link.isRunning, !link.isLoopback else { return nil }
            let addresses = sources(of: route)
            guard !addresses.isEmpty else { return nil }
            return (
                route,
                NetworkExit(
                    interface: link.name, family: route.family, gateway: route.gateway, addresses: addresses)
            )
        }
        return ways.sorted { Self.order($0.route, $0.exit) < Self.order($1.route, $1.exit) }.map(\.exit)
    }

    /// Returns the source addresses for packets of the route: the address that the route names, wherever it is, or
    /// those of its interface.
    private func sources(of route: DefaultRoute) -> [IPAddress] {
        let usable = addresses.values.filter { address in
            guard address.isUsable, address.address.family == route.family else { return false }
            return route.source.map { $0 == address.address } ?? (address.link == route.link)
        }
        return Set(usable.map(\.address)).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Orders by priority, lowest first, as the kernel does; then by a fixed criterion.
    private static func order(_ route: DefaultRoute, _ exit: NetworkExit) -> (UInt32, IPAddress.Family, String, String)
    {
        (route.priority, route.family, exit.interface, exit.gateway?.description ?? "")
    }
}
