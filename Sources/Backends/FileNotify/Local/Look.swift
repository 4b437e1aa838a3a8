/// What a look at the state came to.
enum Look<Value: Sendable>: Sendable {
    case value(Value)
    /// Something was published that is not applied yet.
    case behind
    /// An entry stands there whose time is over.
    case expiryDue
}
