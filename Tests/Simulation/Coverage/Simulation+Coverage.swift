/// How transitions are counted and told.
extension Simulation {
    mutating func took(_ machine: Machine, _ from: UInt8, _ to: UInt8, by number: Int) {
        let transition = MachineTransition(machine: machine, from: from, to: to)
        coverage.count(transition)
        // A machine that only waits is no history.
        if machine == .ownership, to == Move.waits.rawValue || to == Move.looks.rawValue { return }
        let word = UInt64(number) << 24 | UInt64(machine.rawValue) << 16 | UInt64(from) << 8 | UInt64(to)
        history = (history ^ word) &* 0x0000_0100_0000_01b3
    }

    func say(_ sentence: @autoclosure () -> String) {
        if narrative.isTold { narrative.say(sentence(), at: clock) }
    }

    /// A rule was broken. The first one counts.
    func broke(_ sentence: String) {
        narrative.broke(sentence, at: clock)
    }

    func check(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { broke(sentence()) }
    }
}
