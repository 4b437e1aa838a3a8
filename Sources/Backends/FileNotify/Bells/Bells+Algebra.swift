/// What sets can do, word by word.
extension Bells {
    var isEmpty: Bool { words == .zero }

    /// How many bells are in the set.
    var bellCount: Int { (0..<Words.scalarCount).reduce(0) { $0 + words[$1].nonzeroBitCount } }

    func contains(_ member: Bells) -> Bool { isSuperset(of: member) }

    func isSuperset(of other: Bells) -> Bool { other.words & ~words == .zero }

    func isDisjoint(with other: Bells) -> Bool { other.words & words == .zero }

    func union(_ other: Bells) -> Bells { Bells(words: words | other.words) }

    func intersection(_ other: Bells) -> Bells { Bells(words: words & other.words) }

    func symmetricDifference(_ other: Bells) -> Bells { Bells(words: words ^ other.words) }

    func subtracting(_ other: Bells) -> Bells { Bells(words: words & ~other.words) }

    mutating func formUnion(_ other: Bells) { self = union(other) }

    mutating func formIntersection(_ other: Bells) { self = intersection(other) }

    mutating func formSymmetricDifference(_ other: Bells) { self = symmetricDifference(other) }

    mutating func subtract(_ other: Bells) { self = subtracting(other) }

    mutating func insert(_ member: Bells) -> (inserted: Bool, memberAfterInsert: Bells) {
        defer { formUnion(member) }
        return (!isSuperset(of: member), member)
    }

    mutating func update(with member: Bells) -> Bells? {
        defer { formUnion(member) }
        return isSuperset(of: member) ? member : nil
    }

    mutating func remove(_ member: Bells) -> Bells? {
        defer { subtract(member) }
        let found = intersection(member)
        return found.isEmpty ? nil : found
    }
}
