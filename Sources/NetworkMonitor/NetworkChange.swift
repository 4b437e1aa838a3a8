/// A change that the kernel reports.
package enum NetworkChange: Hashable, Sendable {
    /// The interface exists, with this state.
    case link(NetworkLink)
    /// The interface was removed.
    case linkGone(UInt32)
    case address(LinkAddress)
    case addressGone(LinkAddress)
    case route(DefaultRoute)
    case routeGone(DefaultRoute)
    /// A default route with these hops, one or more, has replaced another one. The kernel does not report the removal
    /// of that one.
    case routesReplaced([DefaultRoute])
}

/// A network interface as the kernel reports it.
package struct NetworkLink: Hashable, Sendable {
    /// The kernel's number for it, unique in a network namespace.
    package var index: UInt32
    package var name: String
    /// True if the interface leads to this machine only.
    package var isLoopback: Bool
    /// True if the interface was switched on.
    package var isUp: Bool
    /// True if the interface is on and can carry packets, because a cable, a radio station or a peer is connected.
    package var isRunning: Bool

    package init(index: UInt32, name: String, isLoopback: Bool = false, isUp: Bool = true, isRunning: Bool = true) {
        self.index = index
        self.name = name
        self.isLoopback = isLoopback
        self.isUp = isUp
        self.isRunning = isRunning
    }
}

/// An address that an interface of this machine has.
package struct LinkAddress: Hashable, Sendable {
    /// The interface's number.
    package var link: UInt32
    package var address: IPAddress
    /// True if packets to other networks can have the address as their source: it is valid beyond the link, and the
    /// duplicate address detection is complete.
    package var isUsable: Bool

    package init(link: UInt32, address: IPAddress, isUsable: Bool = true) {
        self.link = link
        self.address = address
        self.isUsable = isUsable
    }
}

/// One hop of a default route in the main table.
package struct DefaultRoute: Hashable, Sendable {
    package var family: IPAddress.Family
    /// The interface's number.
    package var link: UInt32
    /// The router; nil if all destinations are directly reachable through the interface.
    package var gateway: IPAddress?
    /// The source address of packets, if the route names one.
    package var source: IPAddress?
    /// The priority. The kernel prefers the route with the lowest value.
    package var priority: UInt32

    package init(
        family: IPAddress.Family, link: UInt32, gateway: IPAddress? = nil, source: IPAddress? = nil,
        priority: UInt32 = 0
    ) {
        self.family = family
        self.link = link
        self.gateway = gateway
        self.source = source
        self.priority = priority
    }
}

/// Parsers of message bodies. A body that cannot be read, or is of no interest, gives nil or an empty value.
extension NetworkChange {
    /// Reads the body of RTM_NEWLINK and RTM_DELLINK: `struct ifinfomsg` and attributes.
    static func link(_ body: KernelBytes) -> NetworkLink? {
        // A bridge reports its ports with its own family. If a port is removed, the interface may still exist.
        guard body.number(UInt8.self, at: 0) == 0, let index: UInt32 = body.number(at: 4), index > 0,
            let flags: UInt32 = body.number(at: 8), body.count >= 16
        else { return nil }
        // IFLA_IFNAME; IFF_LOOPBACK, IFF_UP and IFF_RUNNING
        let name = body.rest(from: 16).attributes[3]?.text ?? "#\(index)"
        let isUp = flags & 0x1 != 0
        return NetworkLink(
            index: index, name: name, isLoopback: flags & 0x8 != 0, isUp: isUp, isRunning: isUp && flags & 0x40 != 0)
    }

    /// Reads the body of RTM_NEWADDR and RTM_DELADDR: `struct ifaddrmsg` and attributes.
    static func address(_ body: KernelBytes) -> LinkAddress? {
        guard let family = family(body), let flags: UInt8 = body.number(at: 2), let scope: UInt8 = body.number(at: 3),
            let link: UInt32 = body.number(at: 4), link > 0
        else { return nil }
        let attributes = body.rest(from: 8).attributes
        // IFA_LOCAL, which is not IFA_ADDRESS where the interface has one peer; IFA_FLAGS
        guard let content = attributes[2] ?? attributes[1], let address = IPAddress(family, bytes: content.content)
        else { return nil }
        let all = attributes[8]?.number(UInt32.self, at: 0) ?? UInt32(flags)
        // IFA_F_TENTATIVE, unless IFA_F_OPTIMISTIC; IFA_F_DADFAILED. RT_SCOPE_UNIVERSE and RT_SCOPE_SITE.
        let isUnique = all & 0x8 == 0 && (all & 0x40 == 0 || all & 0x4 != 0)
        return LinkAddress(link: link, address: address, isUsable: isUnique && (scope == 0 || scope == 200))
    }

    /// Reads the body of RTM_NEWROUTE and RTM_DELROUTE: `struct rtmsg` and attributes. Returns one route for each hop.
    static func defaultRoutes(_ body: KernelBytes) -> [DefaultRoute] {
        // A default route has a destination of 0 bits and the type RTN_UNICAST. RTM_F_CLONED marks a cache entry, not a
        // route.
        guard let family = family(body), body.number(UInt8.self, at: 1) == 0, body.number(UInt8.self, at: 7) == 1,
            let table: UInt8 = body.number(at: 4), let flags: UInt32 = body.number(at: 8), flags & 0x200 == 0
        else { return [] }
        let attributes = body.rest(from: 12).attributes
        // RTA_TABLE; RT_TABLE_MAIN
        guard (attributes[15]?.number(UInt32.self, at: 0) ?? UInt32(table)) == 254 else { return [] }
        // RTA_PREFSRC, RTA_PRIORITY
        let source = attributes[7].flatMap { IPAddress(family, bytes: $0.content) }
        let priority = attributes[6]?.number(UInt32.self, at: 0) ?? 0
        func route(_ link: UInt32?, _ attributes: [UInt16: KernelBytes]) -> DefaultRoute? {
            guard let link, link > 0 else { return nil }
            return DefaultRoute(
                family: family, link: link, gateway: gateway(family, attributes), source: source, priority: priority)
        }
        // RTA_MULTIPATH, RTA_OIF
        if let hops = attributes[9] {
            return self.hops(hops).compactMap { route($0.link, $0.attributes) }
        }
        return route(attributes[4]?.number(at: 0), attributes).map { [$0] } ?? []
    }

    /// Reads the parts of RTA_MULTIPATH: `struct rtnexthop` and attributes each.
    private static func hops(_ content: KernelBytes) -> [(link: UInt32?, attributes: [UInt16: KernelBytes])] {
        var hops: [(link: UInt32?, attributes: [UInt16: KernelBytes])] = []
        var rest = content
        while let length: UInt16 = rest.number(at: 0), length >= 8, let hop = rest.part(from: 0, count: Int(length)) {
            hops.append((hop.number(at: 4), hop.rest(from: 8).attributes))
            rest = rest.rest(from: KernelBytes.aligned(Int(length)))
        }
        return hops
    }

    /// Returns the address of the router: RTA_GATEWAY, or RTA_VIA if the router has an address of the other family.
    private static func gateway(_ family: IPAddress.Family, _ attributes: [UInt16: KernelBytes]) -> IPAddress? {
        if let gateway = attributes[5] { return IPAddress(family, bytes: gateway.content) }
        guard let via = attributes[18], let number: UInt16 = via.number(at: 0), let family = self.family(number) else {
            return nil
        }
        return IPAddress(family, bytes: via.rest(from: 2).content)
    }

    private static func family(_ body: KernelBytes) -> IPAddress.Family? {
        body.number(UInt8.self, at: 0).flatMap { family(UInt16($0)) }
    }

    /// Returns the family of a number: AF_INET or AF_INET6; nil for any other.
    private static func family(_ number: UInt16) -> IPAddress.Family? {
        switch number {
        case 2: .version4
        case 10: .version6
        default: nil
        }
    }
}
