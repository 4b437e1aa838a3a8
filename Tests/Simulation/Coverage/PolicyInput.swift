/// Who waits, as far as is known.
enum PolicyInput: UInt8 {
    /// What is waited for is not known yet; somebody waits; nobody does.
    case unknown, awaited, quiet
}
