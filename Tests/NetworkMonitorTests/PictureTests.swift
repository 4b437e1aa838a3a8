internal import NetworkMonitor
internal import Testing

@Suite("The facts that make a machine connected")
struct PictureTests {
    private let wan = NetworkLink(index: 7, name: "wan")
    private let own = LinkAddress(link: 7, address: .own)
    private let route = DefaultRoute(family: .version4, link: 7)

    private func state(_ changes: [NetworkChange]) -> NetworkState {
        var picture = NetworkPicture()
        for change in changes { _ = picture.apply(change) }
        return picture.state
    }

    @Test("It takes a link, a carrier, an address and a default route; what is missing first is said")
    func whatIsMissing() {
        #expect(state([]).outage == .interface)
        let loopback = NetworkLink(index: 1, name: "lo", isLoopback: true)
        #expect(state([.link(loopback)]).outage == .interface)
        let idle = NetworkLink(index: 7, name: "wan", isRunning: false)
        #expect(state([.link(loopback), .link(idle), .address(own), .route(route)]).outage == .carrier)
        #expect(state([.link(wan)]).outage == .address)
        #expect(state([.link(wan), .route(route)]).outage == .address)
        #expect(state([.link(wan), .address(own)]).outage == .defaultRoute)
        let connected = state([.link(wan), .address(own), .route(route)])
        #expect(connected.isConnected && connected.exits.map(\.interface) == ["wan"])
    }

    @Test("A route, its interface and its address belong together")
    func together() throws {
        let other = NetworkLink(index: 8, name: "other")
        let elsewhere = LinkAddress(link: 8, address: .own)
        #expect(state([.link(wan), .link(other), .address(elsewhere), .route(route)]).outage == .defaultRoute)
        #expect(state([.link(other), .address(elsewhere), .route(route)]).outage == .defaultRoute)
        let six = LinkAddress(link: 7, address: try #require(IPAddress("2001:db8::7")))
        #expect(state([.link(wan), .address(six), .route(route)]).outage == .defaultRoute)
        let tentative = LinkAddress(link: 7, address: .own, isUsable: false)
        #expect(state([.link(wan), .address(tentative), .route(route)]).outage == .address)
    }

    @Test("A route may name an address that another interface has")
    func source() {
        let other = NetworkLink(index: 8, name: "other")
        let elsewhere = LinkAddress(link: 8, address: .own)
        let named = DefaultRoute(family: .version4, link: 7, source: .own)
        #expect(
            state([.link(wan), .link(other), .address(elsewhere), .route(named)]).exits.map(\.interface) == ["wan"])
        #expect(state([.link(wan), .link(other), .route(named)]).outage == .address)
    }

    @Test("The exit that is taken first stands first, and says from which addresses packets can come")
    func order() throws {
        let other = NetworkLink(index: 8, name: "other")
        let second = try #require(IPAddress("192.0.2.8"))
        let state = state([
            .link(wan), .link(other), .address(own), .address(LinkAddress(link: 8, address: second)),
            .route(DefaultRoute(family: .version4, link: 7, priority: 600)),
            .route(DefaultRoute(family: .version4, link: 8, priority: 100)),
        ])
        #expect(state.exits.map(\.interface) == ["other", "wan"])
        #expect(state.canSend(from: .own) && state.canSend(from: second))
        #expect(try !state.canSend(from: #require(IPAddress("192.0.2.9"))))
        #expect(state.description == "connected through other (192.0.2.8), wan (192.0.2.7)")
    }

    @Test("The removal of a link removes its addresses and routes")
    func gone() {
        let all: [NetworkChange] = [.link(wan), .address(own), .route(route), .linkGone(7)]
        #expect(state(all).outage == .interface)
        #expect(state(all + [.link(wan)]).outage == .address)
        #expect(state(all + [.link(wan), .address(own)]).outage == .defaultRoute)
    }

    @Test("What may have taken more away than was said is told apart")
    func more() {
        var picture = NetworkPicture()
        var known: [NetworkChange] = [.link(wan), .address(own), .route(route)]
        // The kernel keeps the routes of an interface that only lost its carrier.
        known.append(.link(NetworkLink(index: 7, name: "wan", isRunning: false)))
        for change in known {
            let mayBeMore = picture.apply(change)
            #expect(!mayBeMore, "\(change)")
        }
        let down = NetworkLink(index: 7, name: "wan", isUp: false, isRunning: false)
        for change: NetworkChange in [
            .link(down), .addressGone(own), .routeGone(route), .routesReplaced([route]), .linkGone(7),
        ] {
            let mayBeMore = picture.apply(change)
            #expect(mayBeMore, "\(change)")
        }
        // The picture knew nothing of an unknown link.
        let mayBeMore = picture.apply(.linkGone(7))
        #expect(!mayBeMore)
    }
}

extension IPAddress {
    /// 192.0.2.7
    static let own: IPAddress = {
        guard let address = IPAddress("192.0.2.7") else { preconditionFailure("it is an address") }
        return address
    }()
}
