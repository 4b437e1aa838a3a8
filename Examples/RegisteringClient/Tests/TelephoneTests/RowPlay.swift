import Lifecycle
import TelephoneServer
import Telephony
import Testing

/// The run of a row of the table: its initial state, the event, and the effects that are visible outside the machine.
struct RowPlay: Sendable {
    typealias Act = @Sendable (Stage) async throws -> Void

    var from: LifecyclePosition
    /// Makes the state that the row begins with.
    var prepare: Act = { _ in }
    var happen: Act
    /// The rows of all that is traced until it is over.
    var trace: [TransitionNumber?]
    var to: LifecyclePosition
    /// The requests that the server gets.
    var requests: [String] = []
    /// The number of connections that it makes.
    var connections = 0
    /// Checks the rest that can be seen.
    var look: Act = { _ in }

    private static let subscriptions = ["SUBSCRIBE reg", "SUBSCRIBE dialog", "SUBSCRIBE message-summary"]
    private static let presence = ["SUBSCRIBE presence", "PUBLISH open"]

    /// Every row has its play: a number without one does not compile.
    static func of(_ number: TransitionNumber) -> RowPlay {
        let foreground = LifecyclePosition(.foreground, .connected)
        let background = LifecyclePosition(.background, .connected)
        let asleep = LifecyclePosition(.suspended, .connected)
        let foregroundWithout = LifecyclePosition(.foreground, .disconnected)
        let backgroundWithout = LifecyclePosition(.background, .disconnected)
        let asleepWithout = LifecyclePosition(.suspended, .disconnected)
        switch number {
        case .t1:
            return RowPlay(
                from: foreground, prepare: { try await $0.placeCall() }, happen: { $0.loseNetwork() },
                trace: [.t1], to: foregroundWithout,
                look: {
                    #expect(await $0.telephone.screen.last == "network: disconnected")
                    #expect(
                        await $0.telephone.call == Telephone.Call(isReachable: false, isHeld: false, hasMedia: true))
                })
        case .t2:
            return RowPlay(
                from: foregroundWithout, happen: { try $0.gainNetwork() }, trace: [.t2], to: foreground,
                requests: ["REGISTER"] + subscriptions + presence, connections: 1,
                look: {
                    try await $0.getsContacts()
                    #expect(await $0.telephone.screen.last == "network: connected; message-summary: nothing new")
                })
        case .t3:
            return RowPlay(
                from: foregroundWithout, happen: { await $0.bring(to: .background) }, trace: [.t3],
                to: backgroundWithout,
                look: { await $0.getsNothing() })
        case .t4:
            return RowPlay(
                from: backgroundWithout, happen: { try $0.gainNetwork() }, trace: [.t4, .t4], to: background,
                requests: ["REGISTER"] + subscriptions, connections: 1,
                look: { await $0.getsNothing() })
        case .t5:
            return RowPlay(
                from: background, happen: { $0.loseNetwork() }, trace: [.t5], to: backgroundWithout,
                look: { #expect(await !$0.telephone.client.isConnected) })
        case .t6:
            return RowPlay(
                from: background, happen: { await $0.bring(to: .suspended) }, trace: [.t6, .t6, .t6], to: asleep,
                look: { #expect(await $0.telephone.screen.last == "gave up what others might wait for") })
        case .t7:
            return RowPlay(
                from: backgroundWithout, happen: { await $0.bring(to: .suspended) }, trace: [.t7, .t7],
                to: asleepWithout,
                look: { #expect(await $0.telephone.screen.last == "only the keep-alive will wake it") })
        case .t8:
            return RowPlay(
                from: foreground, happen: { await $0.bring(to: .background) }, trace: [.t8], to: background,
                requests: ["UNSUBSCRIBE presence"],
                look: { await $0.getsNothing() })
        case .t9:
            return RowPlay(
                from: background, happen: { await $0.bring(to: .foreground) }, trace: [.t9], to: foreground,
                requests: presence, look: { try await $0.getsContacts() })
        case .t10:
            return RowPlay(
                from: backgroundWithout, happen: { await $0.bring(to: .foreground) }, trace: [.t10],
                to: foregroundWithout)
        case .t11:
            return RowPlay(
                from: asleep, happen: { try $0.server.send(text: "Lunch?") }, trace: [.t11, .t11, .t11, .t11],
                to: asleep,
                look: { stage in
                    #expect(await stage.telephone.screen.contains("alert: Lunch?"))
                    #expect(stage.server.answers > 0)
                })
        case .t12:
            return RowPlay(
                from: asleep, happen: { $0.passTenMinutes() }, trace: [.t12, .t12, .t12], to: asleep,
                requests: ["REGISTER"] + subscriptions)
        case .t13:
            return RowPlay(from: asleep, happen: { $0.loseNetwork() }, trace: [.t13], to: asleepWithout)
        case .t14:
            return RowPlay(from: asleepWithout, happen: { try $0.gainNetwork() }, trace: [.t14], to: asleepWithout)
        case .t15:
            return RowPlay(
                from: asleepWithout, prepare: { try $0.server.heal() }, happen: { $0.passTenMinutes() },
                trace: [.t15, .t15, .t15, .t15], to: asleep, requests: ["REGISTER"] + subscriptions, connections: 1)
        case .t16:
            return RowPlay(
                from: asleep, happen: { await $0.bring(to: .foreground) }, trace: [.t16, .t16], to: foreground,
                requests: presence)
        case .t17:
            return RowPlay(
                from: foreground, prepare: { try await $0.placeCall() },
                happen: { await $0.life.runner.handle(.cellularCallBegan) }, trace: [.t17], to: foreground,
                requests: ["INVITE hold"],
                look: {
                    #expect(await $0.telephone.call == Telephone.Call(isReachable: true, isHeld: true, hasMedia: false))
                })
        case .t18:
            return RowPlay(
                from: foreground,
                // Of a process that was killed nothing is left, and no connection.
                prepare: { await $0.telephone.client.disconnect() },
                happen: { await $0.life.runner.handle(.killedOrRebooted(finds: .connected)) },
                trace: [.t18], to: background, requests: ["REGISTER"] + subscriptions, connections: 1,
                look: { #expect(await $0.telephone.screen.last == "relaunched in the background, without a window") })
        }
    }
}
