internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S14: groups are apart; what is not promised is refused at open", .timeLimit(.minutes(10)))
struct GroupTests {
    @Test("S14: the same keys and names in two groups never meet", arguments: Backend.all)
    func groupsAreApart(backend: Backend) async throws {
        try await backend.withGroup { first in
            try await backend.withGroup { second in
                let stores = [try await first.open(), try await second.open()]
                let recorders = [try await WatchRecorder(stores[0]), try await WatchRecorder(stores[1])]
                let observers = [
                    ObservationRecorder(try await stores[0].observe("news")),
                    ObservationRecorder(try await stores[1].observe("news")),
                ]
                for round in 0..<50 {
                    _ = try await together(2) { number in
                        try await stores[number].put("k", [UInt8(number), UInt8(round)])
                        try await stores[number].post("news", state: UInt64(number))
                    }
                }
                for number in 0..<2 {
                    #expect(try await stores[number].get("k")?.value == [UInt8(number), 49])
                    #expect(try await stores[number].state(of: "news").state == UInt64(number))
                    #expect(try await stores[number].state(of: "news").count == 50)
                    #expect(try await stores[number].sessions().map(\.id) == [stores[number].session.id])
                    try await observers[number].reaches(50)
                    #expect(observers[number].count == 50)
                    #expect(observers[number].deliveries.allSatisfy { $0.state == UInt64(number) })
                    try await recorders[number].reaches(try await stores[number].get("k")?.revision ?? .zero)
                    #expect(recorders[number].mirror.changes.allSatisfy { $0.new?.value.first == UInt8(number) })
                    #expect(recorders[number].mirror.breaches == [])
                }
                #expect(try await code { try await stores[0].put("z", [1], if: .exists("k")) } == nil)
                await stores[0].close()
                #expect(try await stores[1].get("z") == nil)
                #expect(try await stores[1].get("k") != nil)
            }
        }
    }

    private static let promises: [Capability] = [
        .multipleProcesses, .promptDeathNotice, .stoppedWritersTolerated, .linearizableReads, .resumableWatches,
        .previousValues, .deduplicatedRequests, Capability(rawValue: "a promise that nobody gives"),
    ]

    @Test("A required promise is given at open, or the opening is `unsupported`", arguments: Backend.all, promises)
    func requiredPromises(backend: Backend, promise: Capability) async throws {
        try await backend.withGroup { group in
            let declared = try await group.open().capabilities.features.contains(promise)
            let refusal = try await code { try await group.open(requiring: Requirements(features: [promise])) }
            #expect(refusal == (declared ? nil : .unsupported))
            #expect(
                try await group.open().sessions().count == (declared ? 3 : 2), "a refused opening leaves no session")
        }
    }

    @Test(
        "S10: a required durability is given at open, or the opening is `unsupported`", arguments: Backend.all,
        Durability.allCases)
    func requiredDurability(backend: Backend, durability: Durability) async throws {
        try await backend.withGroup { group in
            let given = try await group.open().capabilities.durability
            let refusal = try await code { try await group.open(requiring: Requirements(durability: durability)) }
            #expect(refusal == (given < durability ? .unsupported : nil))
        }
    }
}
