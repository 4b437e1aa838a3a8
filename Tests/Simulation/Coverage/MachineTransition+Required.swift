extension MachineTransition {
    /// The transitions that a campaign has to take.
    package static let required: [MachineTransition] = []
}
