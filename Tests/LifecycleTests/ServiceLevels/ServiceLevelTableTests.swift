import Lifecycle
import Testing

/// The table of service levels, written down a second time.
struct ServiceLevelTableTests {
    private static let listed: [(Service, foreground: ServiceLevel, background: ServiceLevel)] = [
        (.registration, .normal, .normal),
        (.subscriptions, .normal, .normal),
        (.outgoingCall, .normal, .normal),
        (.incomingCall, .normal, .normal),
        (.activeCall, .normal, .normal),
        (.heldCall, .normal, .signalingOnly),
        (.remotelyHeldCall, .normal, .normal),
        (.presenceSubscription, .normal, .none),
        (.presencePublish, .normal, .limited),
        (.httpServices, .normal, .none),
    ]

    private static let calls: Set<Service> = [.outgoingCall, .incomingCall, .activeCall, .heldCall, .remotelyHeldCall]

    private let table = ServiceLevelTable.standard

    @Test("P1, scenario 33: every service has its row")
    func everyServiceHasARow() {
        #expect(Self.listed.map(\.0) == Service.allCases)
    }

    @Test("P1, scenario 33: every row in the foreground and in the background", arguments: listed)
    func rows(service: Service, foreground: ServiceLevel, background: ServiceLevel) {
        #expect(table.level(of: service, in: Situation(.foreground)) == foreground)
        #expect(table.level(of: service, in: Situation(.background)) == background)
    }

    @Test("P3, scenario 33: a cellular call leaves no media to any call, and changes nothing else", arguments: listed)
    func cellularCall(service: Service, foreground: ServiceLevel, background: ServiceLevel) {
        for (application, usual) in [(ApplicationState.foreground, foreground), (.background, background)] {
            let answer = table.explain(service, in: Situation(application, hasCellularCall: true))
            #expect(answer.level == (Self.calls.contains(service) ? .signalingOnly : usual), "\(answer)")
        }
        let active = table.explain(.activeCall, in: Situation(.background, hasCellularCall: true))
        #expect(active.rule == .cellularCall)
        #expect(active.reason.contains("held by signaling"))
    }

    @Test("P1: a suspended application has no service until it is woken", arguments: Service.allCases)
    func suspended(service: Service) {
        let answer = table.explain(service, in: Situation(.suspended))
        #expect(answer.level == .none)
        #expect(answer.rule == .suspended)
    }

    @Test("P1: a call that the other side holds gets its media back only if there is no other active call")
    func otherActiveCall() {
        let other = Situation(.background, hasOtherActiveCall: true)
        #expect(table.level(of: .remotelyHeldCall, in: other) == .signalingOnly)
        #expect(table.explain(.remotelyHeldCall, in: other).source == .derived)
        #expect(table.level(of: .remotelyHeldCall, in: Situation(.foreground, hasOtherActiveCall: true)) == .normal)
        for service in Service.allCases where service != .remotelyHeldCall {
            #expect(table.level(of: service, in: other) == table.level(of: service, in: Situation(.background)))
        }
    }

    @Test("P6: active calls keep full service in the background, whatever other calls there are")
    func activeCallsKeepFullService() {
        for other in [false, true] {
            #expect(table.level(of: .activeCall, in: Situation(.background, hasOtherActiveCall: other)) == .normal)
        }
    }

    @Test("P1: every answer names its source and a reason; what the documents leave open is called derived")
    func explanations() {
        for service in Service.allCases {
            for application in ApplicationState.allCases {
                let answer = table.explain(service, in: Situation(application))
                #expect(!answer.reason.isEmpty)
                let isDerived = service == .presencePublish && application != .suspended
                #expect((answer.source == .derived) == isDerived, "\(answer)")
                if !isDerived { #expect(answer.description.contains("documented (")) }
            }
        }
    }
}
