/// What is decided about a core that runs for others.
enum PolicyDecision: UInt8 {
    case run, done, spent
}
