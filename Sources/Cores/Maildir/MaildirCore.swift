public import Coordination
public import CoreAPI
public import Platform
internal import Synchronization

/// A core with a Maildir as its server: it delivers each message that appears there.
///
/// Messages are RFC 5322 files that a mail transfer agent, or a user with `cp`, puts into the folder `new`. Their
/// identifier is the Call-ID header, else the Message-ID header without its angle brackets. A message moves to the
/// folder `cur`, marked as seen, when it is committed: store first, then acknowledge (contract C8).
///
/// | message | delivered as |
/// |---|---|
/// | any other | ``InboxMessage/Content/text(from:to:text:)``: decoded mailboxes; the plain text, else that of the HTML |
/// | header `X-SharedCore-Kind: nothing`, a delivery or display report, "is typing" | ``InboxMessage/Content/nothingToShow`` |
/// | header `X-SharedCore-Kind: invitation`, or `application/conference-info+xml` | ``InboxMessage/Content/invitation(from:subject:localAddress:)`` |
///
/// The identifier of an invitation is the address of its conference, from the header `X-SharedCore-Conference` or the
/// document's `entity`, if it has one. Its inviter is the mailbox of the From header, and its local address is the mailbox
/// of the To header. A text and an invitation have the time of the Date header and the content type of the part that is shown, if
/// the message has them.
///
/// No content of a file makes the core fail. Three folders beside `new`, in the manner of Maildir++, have the messages
/// that were not delivered: `.Malformed` those that cannot be read as a message, `.Oversized` those that are larger
/// than the inbox can hold, `.Poison` those that three processes were reading when they ended. Each time the timeline
/// gets an entry, and a participant that waits for the identifier, if that could be read, is answered at once:
/// ``InboxMessage/Content/tooLarge(from:to:)`` for a message that is too large, else "nothing to show". Links, pipes
/// and folders in `new` are neither followed nor opened. A file that is still being written is left until it is complete.
/// If the store is full or unreachable, the message stays where it is, and is tried again.
///
/// The core of a Main takes all messages. If the group's content takes an eighth of a process's memory limit, the core
/// reads only the first 1,000 files by name. Of these it takes the messages for which a participant waits, and one
/// other message each second. The core of an Executor also reads 1,000 files, and takes only messages for which a
/// participant waits; the others stay in `new` until then. If the store has all values in memory, the size of the
/// messages in the inbox is limited, and the others stay in `new`.
///
/// The memory for a message has only eleven of its header fields, each cut, and the text to show. GMime decodes them;
/// it is loaded when the core starts.
public final class MaildirCore: Core {
    private let directory: String
    private let startDelay: Duration
    private let memory: UInt64?
    private let clock: any TimeSource
    private let thread = SerialThread(name: "maildir")
    private let running = Mutex<MailSource?>(nil)

    /// Makes a core; nothing is opened before ``start(in:)``.
    ///
    /// - Parameters:
    ///   - directory: The path of the Maildir. It is created if it is missing, with mode 0700.
    ///   - startDelay: The time that connecting takes. A real core needs seconds; with zero, the order of messages and
    ///     pushes would often be right by luck.
    ///   - memory: The limit of the process's private memory in bytes, 24 MiB by default. It limits the size of the
    ///     texts that are shown. Nil for no limit. Use the same value in all cores of a group, so that each handles a
    ///     message in the same way.
    ///   - clock: The clock of the start delay.
    public init(
        directory: String, startDelay: Duration = .zero, memory: UInt64? = 24 << 20,
        clock: any TimeSource = SystemClock()
    ) {
        self.directory = directory
        self.startDelay = startDelay
        self.memory = memory
        self.clock = clock
    }

    /// Opens the Maildir and loads GMime, then takes the time that was configured.
    ///
    /// - Throws: ``SharedCoreError`` with the code ``SharedCoreError/Code/unavailable`` when GMime is not installed,
    ///   ``SharedCoreError/Code/invalidArgument`` when the path is invalid or is not a directory,
    ///   ``SharedCoreError/Code/forbidden`` when this user may not use it; `CancellationError`.
    public func start(in context: CoreContext) async throws {
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw SharedCoreError(.invalidArgument, "A Maildir needs a path without NUL.", at: directory)
        }
        let limits = MailLimits(
            memory: memory, valueByteCount: context.store.capabilities.limits.valueByteCount,
            isResident: context.store.residentValueByteCount == nil)
        let source = try await thread.run { [directory, limits] () throws(SharedCoreError) in
            try MailSource(path: directory, limits: limits)
        }
        running.withLock { $0 = source }
        try await clock.sleep(until: clock.now().advanced(by: startDelay))
    }

    /// Delivers the arrivals, until the task is cancelled.
    ///
    /// - Throws: ``SharedCoreError`` when nothing more can be stored: superseded
    ///   (``SharedCoreError/Code/guardFailed``), session ended, store closed, damaged or of another version. The
    ///   message that failed stays in `new`.
    public func iterate(in context: CoreContext) async throws {
        guard let source = running.withLock({ $0 }) else {
            throw SharedCoreError(.closed, "The core was not started.", at: directory)
        }
        var collector = MailCollector(
            source: source, thread: thread, clock: clock, context: context, memory: memory)
        do {
            try await collector.run()
        } catch let error as SharedCoreError where error.code == .cancelled && Task.isCancelled {
            // The core was told to stop, and the message was not delivered. It stays in `new` for the next core.
        }
    }

    /// Closes the Maildir.
    public func stop() async {
        running.withLock { $0 = nil }
    }
}
