internal import CoreAPI
internal import Testing

@Suite("A backend refuses at open what it cannot keep")
struct CapabilitiesTests {
    private let modest = Capabilities(
        backend: "modest", features: [.linearizableReads, .previousValues], durability: .process, limits: Limits())

    @Test("A promised requirement is satisfied")
    func promisedIsSatisfied() throws {
        try modest.satisfy(.none)
        try modest.satisfy(Requirements(features: [.linearizableReads], durability: .memory))
        try modest.satisfy(Requirements(features: modest.features, durability: .process))
    }

    @Test("E1: what is not promised is `unsupported`, and every missing promise is named")
    func missingIsNamed() {
        let required = Requirements(
            features: [.previousValues, .multipleProcesses, .deduplicatedRequests], durability: .disk)
        let error = #expect(throws: SharedCoreError.self) { try modest.satisfy(required) }
        #expect(error?.code == .unsupported)
        for name in ["multipleProcesses", "deduplicatedRequests", "disk", "modest"] {
            #expect(error?.message.contains(name) == true, "\(name) is not named in: \(error?.message ?? "")")
        }
        #expect(error?.message.contains("previousValues") == false)
    }

    @Test("S10: durabilities are ordered: memory, process, disk")
    func durabilityIsOrdered() {
        #expect(Durability.allCases.sorted() == [.memory, .process, .disk])
        #expect(!(Durability.disk < .disk))
    }
}
