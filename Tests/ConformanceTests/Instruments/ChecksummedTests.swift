internal import CoreAPI
internal import TestSupport
internal import Testing

@testable internal import CoreAPITesting

/// The check for torn values sees each kind of tear.
@Suite("S9: a checksummed value that was torn is noticed", .timeLimit(.minutes(10)))
struct ChecksummedTests {
    private func entry(_ value: [UInt8]) -> Entry {
        Entry(
            key: "k", value: value, revision: .zero, creationRevision: .zero, lifetime: .persistent,
            origin: SessionID(rawValue: 1))
    }

    @Test("A whole value passes; a mixture, a part and an empty one do not", arguments: Seed.several(4))
    func tearsAreNoticed(seed: Seed) throws {
        var random = SeededRandom(seed)
        let first = Checksummed.value(of: 400, from: &random)
        let second = Checksummed.value(of: 400, from: &random)
        try Checksummed.verify(entry(first))
        try Checksummed.verify(entry(Checksummed.value(of: 8, from: &random)))
        for place in [1, 8, 9, 200, 399] {
            #expect(throws: Checksummed.Torn.self) {
                try Checksummed.verify(entry(Array(first[..<place] + second[place...])))
            }
            #expect(throws: Checksummed.Torn.self) { try Checksummed.verify(entry(Array(first[..<place]))) }
        }
        #expect(throws: Checksummed.Torn.self) { try Checksummed.verify(entry([])) }
    }
}
