internal import CoreAPI

/// Two values that one transaction writes. They show their common number, and whether they are complete.
enum NumberedPair {
    /// Returns the value of a number.
    static func value(_ number: Int, byteCount: Int) -> [UInt8] {
        let text = Array("\(number) ".utf8)
        return (0..<byteCount).map { text[$0 % text.count] }
    }

    /// Returns a transaction that writes a pair, with a post that carries the number.
    static func transaction(_ number: Int, byteCount: Int, under prefix: String) throws(SharedCoreError) -> Transaction
    {
        let value = value(number, byteCount: byteCount)
        return Transaction(operations: [
            .put(try Key(prefix + "/a"), value, .persistent), .put(try Key(prefix + "/b"), value, .persistent),
            .post(try NotificationName(prefix), state: UInt64(number)),
        ])
    }

    /// Returns the number of the pair in a store; nil if there is none.
    ///
    /// - Throws: ``CheckFailure`` when a value is torn or the two are not of one transaction.
    static func read(
        under prefix: String, byteCount: Int, in store: any SharedStore
    ) async throws -> Int? {
        let entries = try await store.list(KeyPrefix(prefix)).entries
        guard let first = entries.first else { return nil }
        try expect(entries.map(\.key.text), is: [prefix + "/a", prefix + "/b"], "the keys of a pair")
        try expect(Set(entries.map(\.revision)).count, is: 1, "the number of revisions of a pair")
        let number = try expectSome(
            first.value.firstIndex(of: UInt8(ascii: " ")).flatMap { end in
                Int(String(decoding: first.value[..<end], as: UTF8.self))
            }, "the number of a pair")
        let whole = value(number, byteCount: byteCount)
        try expect(entries.allSatisfy { $0.value == whole }, "both values of pair \(number) are whole")
        return number
    }
}
