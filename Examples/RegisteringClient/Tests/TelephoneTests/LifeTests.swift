import CoreAPI
import Foundation
import InMemoryBackend
import Lifecycle
import NetworkMonitor
import TelephoneServer
import Telephony
import Testing

@Suite("Between the rows of the table", .timeLimit(.minutes(5)))
struct LifeTests {
    private let foreground = LifecyclePosition(.foreground, .connected)
    private let background = LifecyclePosition(.background, .connected)
    private let asleep = LifecyclePosition(.suspended, .connected)
    private let everything = [
        "REGISTER", "SUBSCRIBE reg", "SUBSCRIBE dialog", "SUBSCRIBE message-summary", "SUBSCRIBE presence",
        "PUBLISH open",
    ]

    @Test("A registration of five minutes cannot survive ten: it stays awake and says why")
    func tooShort() async throws {
        let stage = try await Stage(grant: 300)
        try await stage.reach(background)
        let trace = try await stage.after(.t6) { await stage.bring(to: .suspended) }
        #expect(await stage.life.runner.position == background)
        #expect(trace.last?.actions.contains { if case .stayAwake = $0.action { true } else { false } } == true)
        #expect(
            await stage.telephone.screen.last?.hasPrefix("stays awake: the registration “registration” is valid")
                == true)
        await stage.life.close()
    }

    @Test("A call keeps it awake: it sleeps when the call is over")
    func callKeepsAwake() async throws {
        let stage = try await Stage()
        try await stage.reach(background)
        try await stage.placeCall()
        try await stage.after(.t6) { await stage.bring(to: .suspended) }
        #expect(await stage.life.runner.position == background)
        try await stage.after(.t6) { try await stage.telephone.hangUp() }
        try await stage.eventually("it sleeps") { await stage.life.runner.position == asleep }
        await stage.life.close()
    }

    @Test("After a cellular call it offers to resume, and media flows again only when the user wants it")
    func cellularCall() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        try await stage.placeCall()
        try await stage.after(.t17) { await stage.life.runner.handle(.cellularCallBegan) }
        try await stage.after(.t17) { await stage.life.runner.handle(.cellularCallEnded) }
        #expect(await stage.telephone.screen.last == "resume the call?")
        #expect(await stage.telephone.call?.hasMedia == false)
        try await stage.telephone.resumeCall()
        #expect(await stage.telephone.call == Telephone.Call())
        #expect(stage.server.takeRequests() == ["INVITE talk", "INVITE hold", "INVITE talk"])
        await stage.life.close()
    }

    @Test("Lost in the sleep and back before the user looks: everything is made anew")
    func lostInSleep() async throws {
        let stage = try await Stage()
        try await stage.reach(LifecyclePosition(.suspended, .disconnected))
        try await stage.after(.t14) { try stage.gainNetwork() }
        #expect(stage.server.takeRequests() == [])
        try await stage.after(.t16) { await stage.bring(to: .foreground) }
        #expect(await stage.life.runner.position == foreground)
        #expect(stage.server.takeRequests() == everything)
        await stage.life.close()
    }

    @Test("A server that is not there yet is tried again in the foreground, after a while each time")
    func backOff() async throws {
        let stage = try await Stage()
        try await stage.reach(LifecyclePosition(.foreground, .disconnected))
        // The network is there and the server is not.
        stage.server.close()
        try await stage.eventually("the connection has ended") { await !stage.telephone.client.isConnected }
        try await stage.after(.t2) { stage.gainNetworkOnly() }
        for _ in 0..<3 {
            let failures = await stage.failures
            stage.clock.advance(by: .seconds(300))
            try await stage.eventually("another attempt fails") { await stage.failures > failures }
        }
        try stage.server.heal()
        stage.clock.advance(by: .seconds(300))
        try await stage.eventually("it is registered") { await stage.life.runner.isRegistered }
        await stage.life.runner.settle()
        #expect(stage.server.takeRequests() == everything)
        await stage.life.close()
    }

    @Test("In the background there is one attempt, and no other")
    func noBackOffInBackground() async throws {
        let stage = try await Stage()
        try await stage.reach(LifecyclePosition(.background, .disconnected))
        // The network is there and the server is not.
        try await stage.after(.t4) { stage.gainNetworkOnly() }
        #expect(await stage.failures == 1)
        // Only the keep-alive waits for its time: a second attempt would come within seconds.
        #expect(stage.clock.wakes.allSatisfy { $0 > stage.clock.now().advanced(by: .seconds(500)) })
        #expect(!stage.clock.wakes.isEmpty)
        await stage.life.close()
    }

    @Test("A keep-alive without a network finds none, and goes back to sleep")
    func keepAliveWithoutNetwork() async throws {
        let stage = try await Stage()
        try await stage.reach(LifecyclePosition(.suspended, .disconnected))
        try await stage.after(.t15) { stage.passTenMinutes() }
        #expect(await stage.life.runner.position == LifecyclePosition(.suspended, .disconnected))
        try stage.server.heal()
        try await stage.after(.t15) { stage.passTenMinutes() }
        #expect(await stage.life.runner.position == asleep)
        #expect(stage.server.takeRequests() == Array(everything.prefix(4)))
        await stage.life.close()
    }

    @Test("A wake that takes longer than ten seconds is over, and what came is there at the next one")
    func budget() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        stage.server.setMute(true)
        try await stage.happens("T11 begins") {
            try stage.server.send(text: "Lunch?")
        } until: {
            await stage.life.runner.position == background
        }
        stage.clock.advance(by: .seconds(10))
        try await stage.eventually("it sleeps again") { await stage.life.runner.position == asleep }
        await stage.life.runner.settle()
        #expect(await stage.life.runner.trace.contains { $0.actions.first?.action == .stopWork })
        stage.server.setMute(false)
        try await stage.after(.t11) { try stage.server.send(text: "Well?") }
        #expect(await stage.telephone.screen.filter { $0.hasPrefix("alert") } == ["alert: Lunch?", "alert: Well?"])
        await stage.life.close()
    }

    @Test("A web request that waits is finished in the background, and fails with the network")
    func webRequests() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        let first = Task { try await stage.telephone.web.get("/slow") }
        try await stage.eventually("it waits") { stage.server.requests.contains("GET /slow") }
        try await stage.after(.t8) { await stage.bring(to: .background) }
        await stage.getsNothing()
        stage.server.answerSlowRequests()
        let answer = try await first.value
        #expect(answer == "at last")

        try await stage.after(.t9) { await stage.bring(to: .foreground) }
        _ = stage.server.takeRequests()
        let second = Task { try await stage.telephone.web.get("/slow") }
        try await stage.eventually("it waits") { stage.server.requests.contains("GET /slow") }
        try await stage.after(.t8) { await stage.bring(to: .background) }
        try await stage.after(.t5) { stage.loseNetwork() }
        await #expect(throws: WebRequests.Failure.ended) { try await second.value }
        await stage.life.close()
    }

    @Test("A server that is started anew is registered with again, in front and in the background")
    func restart() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        try await stage.afterLoss { stage.server.close() }
        #expect(await stage.life.runner.position == foreground, "the network is there")
        try stage.server.heal()
        stage.clock.advance(by: .seconds(300))
        try await stage.eventually("it is registered") { await stage.life.runner.isRegistered }
        await stage.life.runner.settle()
        #expect(stage.server.takeRequests() == everything)

        try await stage.after(.t8) { await stage.bring(to: .background) }
        _ = stage.server.takeRequests()
        let trace = try await stage.afterLoss { stage.server.drop() }
        #expect(trace.count == 1, "one event, and one attempt: \(trace.map(\.description))")
        #expect(await stage.life.runner.isRegistered)
        #expect(stage.server.takeRequests() == Array(everything.prefix(4)))
        await stage.life.close()
    }

    @Test("T11: a connection that ends while what came is read is made anew in what is left of the wake")
    func lostInWake() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        stage.server.setMute(true)
        try stage.server.send(text: "Lunch?")
        try await stage.eventually("it asks for the rest") { stage.server.answers > 0 }
        stage.server.setMute(false)
        let accepted = stage.server.accepted
        stage.server.drop()
        try await stage.eventually("it is there again") {
            await stage.life.runner.settle()
            let (position, isSubscribed) = (await stage.life.runner.position, await stage.life.runner.isSubscribed)
            return position == asleep && isSubscribed && stage.server.accepted == accepted + 1
        }
        #expect(stage.server.takeRequests() == Array(everything.prefix(4)))
        await stage.life.close()
    }

    @Test("Subscriptions that the server refuses in the background are made up for at the next keep-alive")
    func refusedSubscriptions() async throws {
        let stage = try await Stage()
        try await stage.reach(LifecyclePosition(.background, .disconnected))
        stage.server.refuse("SUBSCRIBE")
        try await stage.after(.t4) { try stage.gainNetwork() }
        #expect(await stage.life.runner.isRegistered)
        #expect(await !stage.life.runner.isSubscribed)
        stage.server.refuse(nil)
        _ = stage.server.takeRequests()
        stage.passTenMinutes()
        try await stage.eventually("it is subscribed") { await stage.life.runner.isSubscribed }
        #expect(stage.server.takeRequests() == Array(everything[1..<4]))
        await stage.life.close()
    }

    @Test("P4: what was due is due in the next process; its keep-alive goes on where the former one was killed")
    func keepAliveOutlivesProcess() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "keep-alive-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let stage = try await Stage(record: path)
        try await stage.reach(asleep)
        stage.clock.advance(by: .seconds(400))
        await stage.life.close()
        let next = try await Stage(following: stage, record: path)
        await next.life.runner.handle(.killedOrRebooted(finds: .connected))
        await next.life.runner.settle()
        try await next.after(.t6) { await next.bring(to: .suspended) }
        _ = next.server.takeRequests()
        // Six hundred seconds after the first process began, not after the second.
        try await next.after(.t12) { next.clock.advance(by: .seconds(200)) }
        #expect(next.server.takeRequests() == Array(everything.prefix(4)))
        await next.life.close()
    }

    @Test("A record that nobody can read is no reason not to start")
    func unreadableRecord() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "keep-alive-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for text in ["no record", "keep-alive 1 0 1\nhandler 1 0 0 registration"] {
            try Data(text.utf8).write(to: URL(filePath: path))
            let stage = try await Stage(record: path)
            try await stage.reach(asleep)
            try await stage.after(.t12) { stage.passTenMinutes() }
            await stage.life.close()
        }
    }

    @Test("What comes between the answers of a keep-alive is alerted when its time is over")
    func alertAfterKeepAlive() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        stage.server.setMute(true)
        stage.passTenMinutes()
        try await stage.eventually("it refreshes") { stage.server.requests.contains("REGISTER") }
        try stage.server.send(text: "Lunch?")
        try await stage.eventually("it has got it") { stage.server.answers > 0 }
        #expect(await !stage.telephone.screen.contains("alert: Lunch?"))
        stage.clock.advance(by: .seconds(10))
        try await stage.eventually("it is an alert") { await stage.telephone.screen.contains("alert: Lunch?") }
        await stage.life.close()
    }

    @Test("A registration is refreshed while it is awake as well, in front and in the background, before it lapses")
    func refreshed() async throws {
        let stage = try await Stage(grant: 300)
        try await stage.reach(foreground)
        for _ in 0..<2 {
            for _ in 0..<3 {
                try await stage.eventually("the refresh is planned") { stage.clock.waits(within: .seconds(150)) }
                stage.clock.advance(by: .seconds(150))
                try await stage.eventually("it refreshes") {
                    stage.server.requests == Array(everything[1..<4]) + ["REGISTER"]
                }
                _ = stage.server.takeRequests()
            }
            // The second time in the background.
            try await stage.move(from: stage.life.runner.position.application, to: .background)
            _ = stage.server.takeRequests()
        }
        await stage.life.close()
    }

    @Test("A telephone whose process was killed is followed by another one, which registers anew")
    func killed() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        let accepted = stage.server.accepted
        await stage.life.close()
        let (states, network) = AsyncStream.makeStream(of: NetworkState.self)
        defer { network.finish() }
        let next = try await TelephoneLife(
            user: "zoe", server: ServerAddress(host: stage.server.host, port: stage.server.port),
            sharing: try await stage.space.open("telephone", as: SessionDescription(role: .main)), network: states,
            clock: stage.clock)
        await next.runner.handle(.killedOrRebooted(finds: .connected))
        await next.runner.settle()
        #expect(await next.runner.position == background)
        #expect(stage.server.takeRequests() == Array(everything.prefix(4)))
        #expect(stage.server.accepted == accepted + 1)
        try stage.server.send(text: "Lunch?")
        try await stage.eventually("it is an alert") { await next.telephone.screen.last == "alert: Lunch?" }
        await next.close()
    }

    @Test("A connection that died in the sleep, though the network is there, is found dead when the user looks")
    func deadConnection() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        // As behind a router that has forgotten it: neither end is told.
        stage.server.cut()
        try stage.server.heal()
        let accepted = stage.server.accepted
        try await stage.after(.t16) { await stage.bring(to: .foreground) }
        #expect(stage.server.takeRequests() == everything)
        #expect(stage.server.accepted == accepted + 1)
        await stage.life.close()
    }

    @Test("A message is shown at once where somebody looks, and is an alert in the background")
    func messages() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        try stage.server.send(text: "Lunch?")
        try await stage.eventually("it is shown") { await stage.telephone.screen.last == "message: Lunch?" }
        try await stage.after(.t8) { await stage.bring(to: .background) }
        try stage.server.send(text: "Well?")
        try await stage.eventually("it is an alert") { await stage.telephone.screen.last == "alert: Well?" }
        await stage.life.close()
    }

    @Test(
        "Scenario 34: lost in one state and restored in another, in the end all is as it was", arguments: States.pairs)
    func lostAndRestored(states: States) async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        try await stage.move(from: .foreground, to: states.lost)
        try await stage.after(states.lost.loss) { stage.loseNetwork() }
        try await stage.move(from: states.lost, to: states.restored)
        _ = stage.server.takeRequests()
        try await stage.after(states.restored.gain) { try stage.gainNetwork() }
        try await stage.move(from: states.restored, to: .foreground)
        #expect(await stage.life.runner.position == foreground)
        #expect(await stage.life.runner.isRegistered)
        let requests = stage.server.takeRequests()
        #expect(requests.count { $0 == "REGISTER" } == 1)
        #expect(requests.last == "PUBLISH open" && requests.contains("SUBSCRIBE presence"), "\(requests)")
        try await stage.getsContacts()
        try stage.server.send(text: "Lunch?")
        try await stage.eventually("it is shown") { await stage.telephone.screen.last == "message: Lunch?" }
        await stage.life.close()
    }

    @Test("Connected before and after, but from another address: the connection is made anew")
    func otherAddress() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        // As if the connection left from an address of the cable.
        stage.tellNetwork(["127.0.0.1"])
        _ = stage.server.takeRequests()
        let accepted = stage.server.accepted
        try await stage.after(.t2) { stage.tellNetwork(["192.0.2.8"]) }
        #expect(stage.server.accepted == accepted + 1)
        #expect(stage.server.takeRequests() == everything)
        #expect(await stage.life.runner.trace.suffix(2).map(\.number) == [.t1, .t2])
        #expect(await stage.life.runner.position == foreground)
        await stage.life.close()
    }
}
