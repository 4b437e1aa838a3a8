public import Coordination
public import CoreAPI
public import Platform
internal import Synchronization

/// A core with a Maildir as its server: it delivers each message that appears there.
///
/// Messages are files of RFC 5322 that a mail transfer agent, or a person with `cp`, puts into the folder `new`. Their
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
/// document's `entity`, where it has one; its inviter is the mailbox of the From header, its local address that of the
/// To header. A text and an invitation have the time of the Date header and the content type of the part that is shown, each
/// where the message has it.
///
/// No content of a file is an error of the core. Three folders beside `new`, in the manner of Maildir++, have the
/// messages that were not delivered: `.Malformed` those that cannot be read as a message, `.Oversized` those that are
/// larger than the inbox can hold, `.Poison` those that three processes were reading when they ended. Each time the
/// timeline says so, and a participant that waits for the identifier, if that could be read, is answered at once:
/// ``InboxMessage/Content/tooLarge(from:to:)`` for a message that is too large, else "nothing to show". Links, pipes
/// and folders in `new` are neither followed nor opened, a file that is still being written is left until it is
/// complete, and a full or unreachable store leaves the message where it is, to be tried again.
///
/// The core of a Main takes all messages. If the group's content takes an eighth of the memory that a process may have,
/// the core considers only the first 1,000 files by their names. Of these it takes the messages that a participant
/// waits for, and one other message each second. The core of an Executor considers as many, and takes only the messages
/// that a participant waits for: others stay in `new` until a participant waits for them. If the store has all values
/// in memory, the messages that wait in the inbox have a bound in bytes, and the others stay in `new`.
///
/// Of a message, no more is in memory than eleven fields of its headers, each cut, and the text that is shown. GMime
/// decodes them; it is loaded when the core starts and only then.
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
    ///   - directory: The path of the Maildir. It is made when it is missing, with mode 0700.
    ///   - startDelay: The time that connecting takes. A real core needs seconds; with zero, the order of messages and
    ///     pushes would often be right by luck.
    ///   - memory: The bytes of memory that the process may have for itself, 24 MiB unless given: a larger text is not
    ///     shown than it can hold. Nil for no limit. Give all cores of a group the same, so that each treats a message
    ///     alike.
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
    ///   ``SharedCoreError/Code/invalidArgument`` when the path is none or leads to something else than a directory,
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
    ///   message that met it stays in `new`.
    public func iterate(in context: CoreContext) async throws {
        guard let source = running.withLock({ $0 }) else {
            throw SharedCoreError(.closed, "The core was not started.", at: directory)
        }
        var collector = MailCollector(
            source: source, thread: thread, clock: clock, context: context, memory: memory)
        do {
            try await collector.run()
        } catch let error as SharedCoreError where error.code == .cancelled && Task.isCancelled {
            // Told to end, in the middle of a delivery that did not take place.
        }
    }

    /// Closes the Maildir.
    public func stop() async {
        running.withLock { $0 = nil }
    }
}
