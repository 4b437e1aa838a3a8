import Lifecycle
import Testing

/// Levels that a configuration replaces.
struct ServiceLevelOverrideTests {
    @Test("P1: an override replaces one level and leaves the others")
    func replacesOne() throws {
        let table = ServiceLevelTable(replacing: [
            try ServiceLevelOverride(.httpServices, in: .background, to: .normal)
        ])
        let background = Situation(.background)
        #expect(table.level(of: .httpServices, in: background) == .normal)
        #expect(table.explain(.httpServices, in: background).source == .configured)
        #expect(table.explain(.httpServices, in: Situation(.foreground)).source != .configured)
        #expect(table.level(of: .httpServices, in: Situation(.suspended)) == .none)
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
        let situation = Situation(.background, hasCellularCall: true)
        #expect(table.level(of: .heldCall, in: situation) == .signalingOnly)
        #expect(table.level(of: .remotelyHeldCall, in: situation) == .none)
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
        #expect(table.level(of: .presencePublish, in: Situation(.background)) == .normal)
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
