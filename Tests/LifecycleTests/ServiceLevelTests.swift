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
        #expect(table.level(of: service, in: ServiceConditions(.foreground)) == foreground)
        #expect(table.level(of: service, in: ServiceConditions(.background)) == background)
    }

    @Test("P3, scenario 33: a cellular call leaves no media to any call, and changes nothing else", arguments: listed)
    func cellularCall(service: Service, foreground: ServiceLevel, background: ServiceLevel) {
        for (application, usual) in [(ApplicationState.foreground, foreground), (.background, background)] {
            let answer = table.explain(service, in: ServiceConditions(application, hasCellularCall: true))
            #expect(answer.level == (Self.calls.contains(service) ? .signalingOnly : usual), "\(answer)")
        }
        let active = table.explain(.activeCall, in: ServiceConditions(.background, hasCellularCall: true))
        #expect(active.rule == .cellularCall)
        #expect(active.reason.contains("held by signaling"))
    }

    @Test("P1: a suspended application has no service until it is woken", arguments: Service.allCases)
    func suspended(service: Service) {
        let answer = table.explain(service, in: ServiceConditions(.suspended))
        #expect(answer.level == .none)
        #expect(answer.rule == .suspended)
    }

    @Test("P1: a call that the other side holds gets its media back only if there is no other active call")
    func otherActiveCall() {
        let other = ServiceConditions(.background, hasOtherActiveCall: true)
        #expect(table.level(of: .remotelyHeldCall, in: other) == .signalingOnly)
        #expect(table.explain(.remotelyHeldCall, in: other).source == .derived)
        #expect(
            table.level(of: .remotelyHeldCall, in: ServiceConditions(.foreground, hasOtherActiveCall: true)) == .normal)
        for service in Service.allCases where service != .remotelyHeldCall {
            #expect(table.level(of: service, in: other) == table.level(of: service, in: ServiceConditions(.background)))
        }
    }

    @Test("P6: active calls keep full service in the background, with any other calls")
    func activeCallsKeepFullService() {
        for other in [false, true] {
            #expect(
                table.level(of: .activeCall, in: ServiceConditions(.background, hasOtherActiveCall: other)) == .normal)
        }
    }

    @Test("P1: every answer names its source and a reason; what the documents leave open is called derived")
    func explanations() {
        for service in Service.allCases {
            for application in ApplicationState.allCases {
                let answer = table.explain(service, in: ServiceConditions(application))
                #expect(!answer.reason.isEmpty)
                let isDerived = service == .presencePublish && application != .suspended
                #expect((answer.source == .derived) == isDerived, "\(answer)")
                if !isDerived { #expect(answer.description.contains("documented (")) }
            }
        }
    }
}

/// Levels that a configuration replaces.
struct ServiceLevelOverrideTests {
    @Test("P1: an override replaces one level and leaves the others")
    func replacesOne() throws {
        let table = ServiceLevelTable(replacing: [
            try ServiceLevelOverride(.httpServices, in: .background, to: .normal)
        ])
        let background = ServiceConditions(.background)
        #expect(table.level(of: .httpServices, in: background) == .normal)
        #expect(table.explain(.httpServices, in: background).source == .configured)
        #expect(table.explain(.httpServices, in: ServiceConditions(.foreground)).source != .configured)
        #expect(table.level(of: .httpServices, in: ServiceConditions(.suspended)) == .none)
        for service in Service.allCases where service != .httpServices {
            #expect(
                table.explain(service, in: background) == ServiceLevelTable.standard.explain(service, in: background))
        }
    }

    @Test(
        "P1, P3: a cellular call takes the media of an overridden level, too, and gives none to a level without service"
    )
    func cellularCall() throws {
        let table = ServiceLevelTable(replacing: [
            try ServiceLevelOverride(.heldCall, in: .background, to: .normal),
            try ServiceLevelOverride(.remotelyHeldCall, in: .background, to: .none),
        ])
        let conditions = ServiceConditions(.background, hasCellularCall: true)
        #expect(table.level(of: .heldCall, in: conditions) == .signalingOnly)
        #expect(table.level(of: .remotelyHeldCall, in: conditions) == .none)
    }

    @Test("P1: the environment of a process that a Host has started has the configured levels")
    func environment() throws {
        let table = try ServiceLevelTable(environment: [
            "SHAREDCORE_SERVICE_LEVELS_PRESENCE_PUBLISH_BACKGROUND": "none",
            "SHAREDCORE_SERVICE_LEVELS_HTTP_SERVICES_BACKGROUND": "normal",
            "SHAREDCORE_SERVICE_LEVELS_HELD_CALL_BACKGROUND": "", "SHAREDCORE_GROUP": "default",
        ])
        #expect(
            table
                == ServiceLevelTable(replacing: [
                    try ServiceLevelOverride(.presencePublish, in: .background, to: .none),
                    try ServiceLevelOverride(.httpServices, in: .background, to: .normal),
                ]))
        #expect(throws: LifecycleError.self) {
            try ServiceLevelTable(environment: ["SHAREDCORE_SERVICE_LEVELS_ACTIVE_CALL_BACKGROUND": "none"])
        }
    }

    @Test("P1: the last of two overrides of one level counts")
    func lastCounts() throws {
        let table = ServiceLevelTable(replacing: [
            try ServiceLevelOverride(.presencePublish, in: .background, to: .none),
            try ServiceLevelOverride(.presencePublish, in: .background, to: .normal),
        ])
        #expect(table.level(of: .presencePublish, in: ServiceConditions(.background)) == .normal)
    }

    @Test("P1: words of a configuration make an override")
    func words() throws {
        let made = try ServiceLevelOverride(service: "heldCall", application: "background", level: "none")
        #expect(made == (try ServiceLevelOverride(.heldCall, in: .background, to: .none)))
    }

    @Test(
        "E2: what names nothing, or means nothing, is refused with what would be right",
        arguments: [
            ("holdCall", "background", "none", "heldCall"),
            ("heldCall", "backgrund", "none", "background"),
            ("heldCall", "background", "off", "signalingOnly"),
            ("heldCall", "suspended", "none", "foreground and background"),
            ("httpServices", "background", "signalingOnly", "normal, none"),
            ("activeCall", "background", "none", "possible is: normal"),
            ("", "", "", "known are"),
        ])
    func refused(service: String, application: String, level: String, hint: String) throws {
        let error = try #require(throws: LifecycleError.self) {
            try ServiceLevelOverride(service: service, application: application, level: level)
        }
        #expect(error.code == .invalidOverride)
        #expect(error.message.contains(hint), "\(error)")
    }

    @Test("P6: no override takes the full service of an active call away", arguments: ServiceLevel.allCases)
    func activeCall(level: ServiceLevel) {
        for application in [ApplicationState.foreground, .background] {
            let made = try? ServiceLevelOverride(.activeCall, in: application, to: level)
            #expect((made != nil) == (level == .normal))
        }
    }
}
