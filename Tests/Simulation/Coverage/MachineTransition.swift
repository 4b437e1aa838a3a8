/// One transition of one machine: in which situation it was, and what it did or became.
package struct MachineTransition: Hashable, Sendable, CustomStringConvertible {
    package let machine: Machine
    package let from: UInt8
    package let to: UInt8

    package init(machine: Machine, from: UInt8, to: UInt8) {
        self.machine = machine
        self.from = from
        self.to = to
    }

    /// The machine, the situation and the move, by name.
    package var description: String { "\(machine): \(machine.fromName(from)) -> \(machine.toName(to))" }
}
