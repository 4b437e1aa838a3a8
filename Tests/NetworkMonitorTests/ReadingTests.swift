internal import NetworkMonitor
internal import Testing

@Suite("Reading the kernel's messages")
struct ReadingTests {
    private func changes(_ message: KernelMessage) -> [NetworkChange] {
        guard case .changes(let changes)? = RouteMessage.read(message.bytes).first?.content else { return [] }
        return changes
    }

    @Test("The flags of a link tell whether it is up and running")
    func links() {
        #expect(changes(.link(7, "wan")) == [.link(NetworkLink(index: 7, name: "wan"))])
        #expect(
            changes(.link(7, "wan", flags: 0x3)) == [.link(NetworkLink(index: 7, name: "wan", isRunning: false))])
        #expect(
            changes(.link(7, "wan", flags: 0x42))
                == [.link(NetworkLink(index: 7, name: "wan", isUp: false, isRunning: false))])
        #expect(changes(.link(1, "lo", flags: 0x49)) == [.link(NetworkLink(index: 1, name: "lo", isLoopback: true))])
        #expect(changes(.link(7, "wan", type: 17)) == [.linkGone(7)])
    }

    @Test("Messages of a bridge about its ports are not reports of links")
    func bridges() {
        #expect(changes(.link(7, "wan", family: 7, type: 17)) == [])
        #expect(changes(.link(7, "wan", family: 7)) == [])
    }

    @Test("An address is usable where it is valid beyond the link and no other host has it")
    func addresses() throws {
        let four = try #require(IPAddress("192.0.2.7"))
        let six = try #require(IPAddress("2001:db8::7"))
        func read(_ message: KernelMessage) -> Bool? {
            guard case .address(let address)? = changes(message).first, address.link == 7 else { return nil }
            return address.isUsable
        }
        #expect(changes(.address(7, "192.0.2.7")) == [.address(LinkAddress(link: 7, address: four))])
        #expect(changes(.address(7, "2001:db8::7")) == [.address(LinkAddress(link: 7, address: six))])
        #expect(
            changes(.address(7, "192.0.2.7", type: 21)) == [.addressGone(LinkAddress(link: 7, address: four))])
        #expect(read(.address(7, "169.254.1.1", scope: 253)) == false)
        #expect(read(.address(7, "127.0.0.1", scope: 254)) == false)
        #expect(read(.address(7, "fec0::1", scope: 200)) == true)
        #expect(read(.address(7, "2001:db8::7", flags: 0x40)) == false, "tentative")
        #expect(read(.address(7, "2001:db8::7", flags: 0x44)) == true, "optimistic")
        #expect(read(.address(7, "2001:db8::7", flags: 0x8)) == false, "a duplicate")
        // The longer flags count where they are there.
        let flags = KernelMessage.attribute(8, KernelMessage.word(UInt32(0x40)))
        #expect(read(.address(7, "2001:db8::7", attributes: flags)) == false)
    }

    @Test("Of an interface with one peer, the own address counts")
    func pointToPoint() throws {
        let own = try #require(IPAddress("192.0.2.7"))
        let message = KernelMessage.address(7, "192.0.2.1", attributes: KernelMessage.attribute(2, own.bytes))
        #expect(changes(message) == [.address(LinkAddress(link: 7, address: own))])
    }

    @Test("A default route is one of the main table for packets of one's own")
    func routes() throws {
        let router = try #require(IPAddress("192.0.2.1"))
        let source = try #require(IPAddress("192.0.2.7"))
        let attributes =
            KernelMessage.attribute(5, router.bytes) + KernelMessage.attribute(7, source.bytes)
            + KernelMessage.attribute(6, KernelMessage.word(UInt32(100)))
        let route = DefaultRoute(family: .version4, link: 7, gateway: router, source: source, priority: 100)
        #expect(changes(.defaultRoute(7, attributes: attributes)) == [.route(route)])
        #expect(changes(.defaultRoute(7, attributes: attributes, type: 25)) == [.routeGone(route)])
        #expect(changes(.defaultRoute(7, family: 10)) == [.route(DefaultRoute(family: .version6, link: 7))])
        #expect(changes(.defaultRoute(7, length: 24)) == [], "to one network")
        #expect(changes(.defaultRoute(7, table: 255)) == [], "of another table")
        #expect(changes(.defaultRoute(7, kind: 7)) == [], "that says: unreachable")
        #expect(changes(.defaultRoute(7, flags: 0x200)) == [], "a use of a route")
        #expect(changes(.defaultRoute(7, family: 128)) == [], "for packets to many")
        #expect(changes(.defaultRoute(nil)) == [], "to nowhere")
        let table = KernelMessage.attribute(15, KernelMessage.word(UInt32(1000)))
        #expect(changes(.defaultRoute(7, attributes: table)) == [], "of a table with a high number")
    }

    @Test("A route with several hops is one route for each; a router may have an address of the other family")
    func hops() throws {
        let router = try #require(IPAddress("fe80::1"))
        func hop(_ link: UInt32, _ attributes: [UInt8]) -> [UInt8] {
            KernelMessage.word(UInt16(8 + attributes.count)) + [0, 0] + KernelMessage.word(link) + attributes
        }
        let via = KernelMessage.attribute(18, KernelMessage.word(UInt16(10)) + router.bytes)
        let hops = KernelMessage.attribute(9, hop(7, via) + hop(8, []))
        #expect(
            changes(.defaultRoute(nil, attributes: hops)) == [
                .route(DefaultRoute(family: .version4, link: 7, gateway: router)),
                .route(DefaultRoute(family: .version4, link: 8)),
            ])
    }

    @Test("A route that takes another's place says so, unless it is part of an answer")
    func replacing() {
        var message = KernelMessage.defaultRoute(7)
        let route = DefaultRoute(family: .version4, link: 7)
        message.flags = 0x100
        #expect(changes(message) == [.routesReplaced([route])])
        message.flags = 0x102
        #expect(changes(message) == [.route(route)])
    }

    @Test("Answers carry the number of their request; what others asked for does not")
    func answers() {
        var message = KernelMessage.link(7, "wan")
        message.sequence = 5
        #expect(RouteMessage.read(message.bytes).map(\.answers) == [nil])
        message.flags = 0x12
        #expect(RouteMessage.read(message.bytes).map(\.answers) == [5])
        #expect(RouteMessage.read(message.bytes).map(\.isInterrupted) == [true])
        let end = KernelMessage(type: 3, flags: 0x2, sequence: 5, body: KernelMessage.word(Int32(0)))
        #expect(RouteMessage.read(end.bytes) == [RouteMessage(.ended, answers: 5)])
        let failed = KernelMessage(type: 3, flags: 0x2, sequence: 5, body: KernelMessage.word(Int32(-12)))
        #expect(RouteMessage.read(failed.bytes) == [RouteMessage(.refused(12), answers: 5)])
        let error = KernelMessage(type: 2, sequence: 5, body: KernelMessage.word(Int32(-16)))
        #expect(RouteMessage.read(error.bytes) == [RouteMessage(.refused(16), answers: 5)])
        let lowest = KernelMessage(type: 2, sequence: 5, body: KernelMessage.word(Int32.min))
        #expect(RouteMessage.read(lowest.bytes) == [RouteMessage(.refused(.max), answers: 5)])
        let fine = KernelMessage(type: 2, sequence: 5, body: KernelMessage.word(Int32(0)))
        #expect(RouteMessage.read(fine.bytes) == [])
        #expect(RouteMessage.read(KernelMessage(type: 4).bytes) == [RouteMessage(.lost)])
        #expect(RouteMessage.read(KernelMessage(type: 1).bytes) == [], "nothing")
        #expect(RouteMessage.read(KernelMessage(type: 99).bytes) == [], "something new")
    }

    @Test("Several messages of a datagram are read one after another")
    func several() {
        let bytes = KernelMessage.link(7, "a").bytes + KernelMessage(type: 99).bytes + KernelMessage.link(8, "b").bytes
        #expect(RouteMessage.read(bytes).count == 2)
    }

    @Test("Addresses are read and written as people do it")
    func text() {
        for text in ["192.0.2.7", "2001:db8::7", "::"] { #expect(IPAddress(text)?.description == text) }
        for text in ["", "192.0.2", "192.0.2.256", "2001:db8:::7", "example"] { #expect(IPAddress(text) == nil) }
        #expect(IPAddress(.version4, bytes: [1, 2, 3]) == nil)
        #expect(IPAddress(.version6, bytes: [1, 2, 3, 4]) == nil)
    }
}
