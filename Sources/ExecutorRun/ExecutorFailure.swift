package import ProgramOutput

/// Why an Executor could not do its job at all, which says nothing about its call-id.
package struct ExecutorFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// One line for people.
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
