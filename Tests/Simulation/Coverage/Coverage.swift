/// Counts how often each transition of each machine was taken.
package struct Coverage: Sendable {
    private static let width = 64
    private var counts = [UInt32](repeating: 0, count: Machine.allCases.count * width * width)

    package init() {}

    mutating func count(_ transition: MachineTransition) {
        counts[Self.index(transition)] &+= 1
    }

    package subscript(_ transition: MachineTransition) -> Int { Int(counts[Self.index(transition)]) }

    package mutating func add(_ other: Coverage) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// Returns the transitions that were taken at least a number of times.
    package func taken(atLeast least: Int = 1) -> [MachineTransition] {
        counts.indices.filter { counts[$0] >= least }.compactMap { index in
            guard let machine = Machine(rawValue: UInt8(index / (Self.width * Self.width))) else { return nil }
            return MachineTransition(
                machine: machine, from: UInt8(index / Self.width % Self.width), to: UInt8(index % Self.width))
        }
    }

    private static func index(_ transition: MachineTransition) -> Int {
        (Int(transition.machine.rawValue) * width + Int(transition.from)) * width + Int(transition.to)
    }
}

/// Counts transitions and reports broken rules.
extension Simulation {
    mutating func took(_ machine: Machine, _ from: UInt8, _ to: UInt8, by number: Int) {
        let transition = MachineTransition(machine: machine, from: from, to: to)
        coverage.count(transition)
        // Steps of a waiting machine are not part of the history.
        if machine == .ownership, to == Move.waits.rawValue || to == Move.looks.rawValue { return }
        let word = UInt64(number) << 24 | UInt64(machine.rawValue) << 16 | UInt64(from) << 8 | UInt64(to)
        history = (history ^ word) &* 0x0000_0100_0000_01b3
    }

    func say(_ sentence: @autoclosure () -> String) {
        if narrative.isTold { narrative.say(sentence(), at: clock) }
    }

    /// Records a broken rule. Only the first one counts.
    func broke(_ sentence: String) {
        narrative.broke(sentence, at: clock)
    }

    func check(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { broke(sentence()) }
    }
}
