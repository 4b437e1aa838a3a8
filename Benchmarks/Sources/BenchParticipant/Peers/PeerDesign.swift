/// Another way in which processes agree on who runs the core, as users of the field know it. Its calls block.
protocol PeerDesign: AnyObject, Sendable {
    /// Waits until this process may run the core. It lets go when it is asked to, as far as the design can ask.
    func own(asMain: Bool)

    /// Lets go.
    func release()

    /// Gets a message as a process does that a push woke, running the core where nobody else does.
    func message(_ callID: String, by core: PeerCore)
}
