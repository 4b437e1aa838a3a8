/// Why an alert was not shown.
struct AlertFailure: Error, Hashable, Sendable {
    /// For people.
    let reason: String
}
