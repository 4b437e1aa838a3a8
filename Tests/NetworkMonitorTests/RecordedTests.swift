internal import CoreAPI
internal import NetworkMonitor
internal import Platform
internal import Testing

/// The recorded messages of a kernel, step by step. Its answers to further requests are not among them, so routes that
/// it removes without a report are not known here.
@Suite("Recorded reports of kernels")
struct RecordedTests {
    private func changes(_ step: String) throws -> [NetworkChange] {
        var all: [NetworkChange] = []
        for message in try Recording().step(step).datagrams.flatMap(RouteMessage.read) {
            if case .changes(let changes) = message.content { all += changes }
        }
        return all
    }

    @Test("An answer of three parts is all there is")
    func everything() throws {
        let loopback = NetworkLink(index: 1, name: "lo", isLoopback: true)
        let changes = try changes("all there is")
        #expect(
            changes.filter { if case .link = $0 { true } else { false } }
                == [
                    .link(loopback), .link(NetworkLink(index: 2, name: "far")),
                    .link(NetworkLink(index: 3, name: "wan")),
                ])
        #expect(changes.contains(.address(LinkAddress(link: 3, address: .own))))
        #expect(changes.contains(.route(DefaultRoute(family: .version4, link: 3, gateway: IPAddress("192.0.2.1")))))
        #expect(changes.filter { if case .route = $0 { true } else { false } }.count == 1)
        let messages = try Recording().step("all there is").datagrams.flatMap(RouteMessage.read)
        #expect(messages.filter { $0.content == .ended }.map(\.answers) == [1, 2, 3])
    }

    @Test("A bridge that loses a port does not say that the port's interface is gone")
    func bridge() throws {
        let changes = try changes("bridge without wan")
        #expect(changes.contains(.link(NetworkLink(index: 3, name: "wan"))))
        #expect(!changes.contains(.linkGone(3)))
        let bytes = try Recording().step("bridge without wan").datagrams
        #expect(bytes.contains { $0[4] == 17 && $0[16] == 7 }, "it says something like it, though")
    }

    @Test("A route with two routers takes the place of one with one")
    func routers() throws {
        let routes = ["192.0.2.1", "192.0.2.2"].map {
            DefaultRoute(family: .version4, link: 3, gateway: IPAddress($0))
        }
        #expect(try changes("two routers") == [.routesReplaced(routes)])
    }

    @Test("Fed with it, a tracker tells what became of the network")
    func states() throws {
        var tracker = NetworkTracker()
        var now = BootInstant(nanoseconds: 1)
        var asked = tracker.start(at: now)
        var told: [String: String] = [:]
        for step in try Recording().steps {
            for message in step.datagrams.flatMap(RouteMessage.read) {
                for directive in tracker.receive(message, at: now) {
                    if case .tell(let state) = directive {
                        told[step.name] = "\(state)"
                    } else {
                        asked.append(directive)
                    }
                }
            }
            // Long enough for the state to be reported, and too short for a repetition of an unanswered request.
            now = now.advanced(by: .milliseconds(300))
            for directive in tracker.timePassed(at: now) {
                if case .tell(let state) = directive { told[step.name] = "\(state)" }
            }
        }
        #expect(
            asked.prefix(3) == [.ask(.links, sequence: 1), .ask(.addresses, sequence: 2), .ask(.routes, sequence: 3)])
        let wan = "connected through wan (192.0.2.7)"
        #expect(
            told == [
                "all there is": wan + " by 192.0.2.1",
                "the far end down": "disconnected: no interface is up and carries packets",
                "the far end up": wan + " by 192.0.2.1",
                "wan down": "disconnected: no interface is up and carries packets",
                // The kernel has not said that the route is gone: a request is told.
                "wan up": wan + " by 192.0.2.1",
                "route of version 6": wan + " by 192.0.2.1, wan (2001:db8::7) by fe80::1",
                "no route of version 6": wan + " by 192.0.2.1",
                "two routers": wan + " by 192.0.2.1, wan (192.0.2.7) by 192.0.2.2",
                "address gone": "disconnected: no default route leads out",
                "wan gone": "disconnected: no interface is up and carries packets",
            ])
    }
}
