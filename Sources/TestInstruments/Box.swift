internal import Synchronization

/// A value that several tasks of a test write and read.
package final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    package init(_ value: Value) {
        content = Mutex(value)
    }

    /// The value as it stands.
    package var value: Value { content.withLock { $0 } }

    /// Changes the value in place.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        content.withLock { value in change(&value) }
    }
}
