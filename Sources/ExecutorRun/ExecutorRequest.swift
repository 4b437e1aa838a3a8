internal import CommandCore
package import Coordination
internal import CoreAPI

/// The job of one Executor.
package struct ExecutorRequest: Sendable {
    /// The call-id that the push announced.
    package var callID: CallID
    /// How long to wait for its message.
    package var timeout: Duration
    /// True if the core has to run here, even if the inbox has the message.
    package var insists: Bool
    /// The path of the Maildir that the core fetches messages from.
    package var maildir: String
    /// The time that the core takes to connect.
    package var startDelay: Duration
    /// How many bytes of memory the process may have for itself; nil for no limit.
    package var memory: UInt64?
    /// True if the host that has started this Executor shows the message, and confirms it by a byte on standard input.
    /// Only then is the message acknowledged.
    package var isConfirmed = false
    /// The program that runs as the core; nil for the core with the Maildir.
    package var command: CoreCommand?
    /// How ownership and messages are handled.
    package var options: CoordinationOptions
    /// The witness that detects two cores running at once; nil for none.
    package var witness: (any Witness)?
    /// Called with the reason why its core cannot run yet; nil for no reports.
    package var reporting: (@Sendable (OwnershipWaitReason) -> Void)?

    package init(
        callID: CallID, timeout: Duration, insists: Bool = false, maildir: String, startDelay: Duration = .zero,
        memory: UInt64? = 24 << 20, options: CoordinationOptions = CoordinationOptions(), witness: (any Witness)? = nil,
        reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil
    ) {
        self.callID = callID
        self.timeout = timeout
        self.insists = insists
        self.maildir = maildir
        self.startDelay = startDelay
        self.memory = memory
        self.options = options
        self.witness = witness
        self.reporting = reporting
    }
}

/// The program that runs as the core, from the setting `core.command`.
package struct CoreCommand: Hashable, Sendable {
    /// The program and its arguments.
    package var words: [String]
    /// The variables of its environment that are added to this process's, or differ from them.
    package var variables: [String: String]
    /// The time limit for connecting.
    package var startTimeout: Duration

    package init(_ words: [String], variables: [String: String] = [:], startTimeout: Duration = .seconds(30)) {
        self.words = words
        self.variables = variables
        self.startTimeout = startTimeout
    }

    /// Makes a core for one ownership.
    package func makeCore() -> any Core {
        CommandCore(words, variables: variables, startTimeout: startTimeout)
    }
}
