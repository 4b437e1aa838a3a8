internal import CoreAPI

/// Transactions of all kinds over a few keys.
enum RandomTransaction {
    private static let keys: [Key] = ["a/1", "a/2", "a/3", "b/1", "b/1/x", "b/10", "c", "d"]
    private static let prefixes: [KeyPrefix] = ["a", "b/1", "c", "b/1/"]

    static func next(using random: inout SplitMix64) -> Transaction {
        var transaction = Transaction()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: transaction.delete(key)
            case 2: transaction.deleteAll(under: prefixes[Int.random(in: 0..<prefixes.count, using: &random)])
            case 3: transaction.put(key, random.bytes(Int.random(in: 0...40, using: &random)), lifetime: .session)
            case 4: transaction.post("news", state: random.next())
            default: transaction.put(key, random.bytes(Int.random(in: 0...40, using: &random)))
            }
        }
        return transaction
    }
}
