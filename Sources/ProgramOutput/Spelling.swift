/// Finds a similar word for an unknown one.
package enum Spelling {
    /// Returns the candidate nearest to `word`; nil if none is similar enough. A candidate may differ in a third of the
    /// characters of `word`, or in one if that is more. Case does not count.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        ranked(candidates, near: word, bound: max(1, word.count / 3)).first
    }

    /// Returns at most three candidates, the nearest to `word` first. A candidate differs in at most half of the
    /// characters of `word`, or in one if that is more. Case does not count.
    package static func similar(to word: String, among candidates: [String]) -> [String] {
        Array(ranked(candidates, near: word, bound: max(1, word.count / 2)).prefix(3))
    }

    /// Returns the candidates within a distance of a word, the nearest first. Of equally near ones, the earlier
    /// candidate is first.
    private static func ranked(_ candidates: [String], near word: String, bound: Int) -> [String] {
        let word = word.lowercased()
        let length = word.unicodeScalars.count
        return
            candidates
            // The distance of two words is at least the difference of their lengths. Candidates that are too long or
            // too short are left out first, because a word from outside may be very long.
            .filter { abs($0.unicodeScalars.count - length) <= bound }
            .enumerated()
            .map { (place: $0.offset, candidate: $0.element, distance: distance(word, $0.element.lowercased())) }
            .filter { $0.distance <= bound }
            .sorted { ($0.distance, $0.place) < ($1.distance, $1.place) }
            .map(\.candidate)
    }

    /// Returns a sentence that proposes the most similar candidate; empty if there is none.
    package static func suggestion(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean “\($0)”?" } ?? ""
    }

    /// Returns the least number of insertions, deletions, replacements and swaps of neighbours that turn one word into
    /// the other.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars)
        let right = Array(right.unicodeScalars)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                var cost = min(
                    current[column] + 1, last[column + 1] + 1, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
