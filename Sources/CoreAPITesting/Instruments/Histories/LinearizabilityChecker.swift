/// Judges whether concurrent calls on one key can be put into one order that agrees with what they returned and with
/// the order in real time of those that did not overlap.
///
/// The history comes in windows, between which no call is in flight: each window is searched by itself, starting from
/// every state in which the windows before it can have ended. A window has at most 64 calls.
///
/// Source: Wing, Gong: Testing and Verifying Concurrent Objects, 1993; Lowe: Testing for Linearizability, 2017.
struct LinearizabilityChecker {
    /// The states in which the key can be now; empty when the history was not linearizable.
    private(set) var possibleStates: Set<Int?> = [nil]

    private struct Point: Hashable {
        let done: UInt64
        let state: Int?
    }

    /// Searches one more window.
    ///
    /// - Returns: Whether the history up to here is linearizable.
    mutating func check(_ window: [RegisterOperation]) -> Bool {
        precondition(window.count <= 64, "A window has at most 64 calls, this one has \(window.count).")
        let all: UInt64 = window.count == 64 ? .max : (1 << UInt64(window.count)) - 1
        // The calls that must come before each call, because they had ended when it began.
        let before = window.map { call in
            window.indices.reduce(into: UInt64(0)) { mask, other in
                if window[other].ended < call.began { mask |= 1 << UInt64(other) }
            }
        }
        var ends: Set<Int?> = []
        var seen: Set<Point> = []
        var open = possibleStates.map { Point(done: 0, state: $0) }
        while let point = open.popLast() {
            guard seen.insert(point).inserted else { continue }
            if point.done == all {
                ends.insert(point.state)
                continue
            }
            for index in window.indices {
                let bit: UInt64 = 1 << UInt64(index)
                guard point.done & bit == 0, before[index] & ~point.done == 0 else { continue }
                guard let next = window[index].applied(to: point.state) else { continue }
                open.append(Point(done: point.done | bit, state: next))
            }
        }
        possibleStates = ends
        return !ends.isEmpty
    }
}
