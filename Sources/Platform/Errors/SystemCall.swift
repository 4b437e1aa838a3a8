internal import Glibc

/// Calls the system again as long as a signal interrupts the call.
enum SystemCall {
    /// Runs a call of the C library, which gives -1 and sets errno when it fails.
    static func run<Value: FixedWidthInteger>(
        _ name: String, at location: @autoclosure () -> String, _ body: () -> Value
    ) throws(SystemCallError) -> Value {
        if let number = FailPoint.failure(of: name, at: location()) {
            throw SystemCallError(name, number: number, at: location())
        }
        while true {
            let result = body()
            guard result == -1 else { return result }
            let number = errno
            if number != EINTR { throw SystemCallError(name, number: number, at: location()) }
        }
    }

    /// Runs a call that gives its negated error number when it fails.
    @discardableResult
    static func negated(
        _ name: String, at location: @autoclosure () -> String, _ body: () -> Int32
    ) throws(SystemCallError) -> Int32 {
        if let number = FailPoint.failure(of: name, at: location()) {
            throw SystemCallError(name, number: number, at: location())
        }
        while true {
            let result = body()
            guard result < 0 else { return result }
            if result != -EINTR { throw SystemCallError(name, number: -result, at: location()) }
        }
    }
}
