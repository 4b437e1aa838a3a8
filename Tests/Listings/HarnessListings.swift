internal import CoreAPI
internal import CoreAPITesting

struct MyHarness: ConformanceHarness {
    let name = "mine"

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        guard settings.clock == nil else { throw HarnessLimitation("the server has a clock of its own") }
        return MyTestGroup(endpoint: try await TestServer.start(), settings: settings)
    }
}

struct MyTestGroup: ConformanceGroup {
    let endpoint: String
    let settings: GroupSettings

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await MyGroup.open(
            endpoint, as: description, limits: settings.limits ?? Limits(), requirements: requirements)
    }

    func remove() async { await TestServer.stop(endpoint) }
}

func playPeer() async {
    await ConformancePeer { address, description throws(SharedCoreError) in
        try await MyGroup.open(address, as: description)
    }.serve()
}

func tryEverything() async {
    for conformanceCase in ConformanceSuite.cases {
        let result = await conformanceCase.run(on: MyHarness())
        print(conformanceCase.id, result.outcome.word, result.outcome.message ?? "")
    }
}
