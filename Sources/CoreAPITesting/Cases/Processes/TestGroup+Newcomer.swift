package import CoreAPI

extension TestGroup {
    /// Ends the case unless a process that joins now, and knows nothing but the address, finds a text under a key.
    package func expectNewcomer(finds text: String, under key: Key) async throws {
        let newcomer = try await join()
        try expect(try await newcomer.tell("get \(key)"), is: "value \(text)", "what a newcomer finds under \(key)")
    }
}

extension SharedStore {
    /// The value under a key as text; nil when there is none.
    package func text(_ key: Key) async throws(SharedCoreError) -> String? {
        try await get(key).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Sets the value of a key to a text.
    @discardableResult
    package func put(
        _ key: Key, text: String, lifetime: Lifetime = .persistent
    ) async throws(SharedCoreError) -> Revision {
        try await put(key, Array(text.utf8), lifetime: lifetime).revision
    }
}
