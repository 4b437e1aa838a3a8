internal import CoreAPI
internal import Platform

/// A stack with an event loop, such as a SIP library in C, that ``LoopCore`` runs as a core.
///
/// ```swift
/// final class MailStack: LoopStack {
///     private var stack: OpaquePointer?
///     ...
///     func prepare() -> LoopWait {
///         LoopWait(for: [LoopDescriptor(mail_descriptor(stack), .readable)], atMost: .milliseconds(mail_timeout(stack)))
///     }
///
///     func dispatch(_ ready: [LoopDescriptor]) { mail_step(stack) }
///     ...
/// }
/// ```
///
/// The object is made, called and freed on the loop's thread, so it need not be `Sendable`, and no call comes while
/// another runs.
///
/// If ``start(on:)`` throws, the core's start fails. If another call throws, other than ``rest(in:)``, the core ends
/// like one whose ``Core/iterate(in:)`` throws. ``close()`` follows in both cases.
///
/// Source: GLib's main loop (prepare, poll, dispatch).
public protocol LoopStack: AnyObject, SendableMetatype {
    /// Begins to connect. The core counts as started when this has returned; the loop runs from then on.
    func start(on loop: LoopContext) throws

    /// Returns the descriptors and the time to wait for. Called before each wait.
    func prepare() throws -> LoopWait

    /// Handles ready descriptors and timers. Called after each wait in which a descriptor became ready or the time has
    /// passed. A descriptor that stays ready is reported again at once.
    ///
    /// - Parameter ready: The ready descriptors, with the events that have come; none when the time has passed.
    func dispatch(_ ready: [LoopDescriptor]) throws

    /// Begins to stop: unregisters, for example. The loop runs on until ``LoopContext/end()``, or until three quarters of
    /// ``StopRequest/timeout`` have passed since the core was told; what is received meanwhile may still be delivered. A stack that
    /// stops at once calls ``LoopContext/end()`` here.
    ///
    /// Not called when the stack has failed or ended by itself before, or when a callback returns only after that time.
    func stop(_ request: StopRequest) throws

    /// Becomes quiet, and stays registered: stops its timers, and sends nothing until ``resume(in:for:)``.
    ///
    /// While the stack rests, the loop polls nothing, and calls nothing but closures of ``LoopContext/perform(_:)``,
    /// ``resume(in:for:)``, ``stop(_:)``, ``handOver(_:)`` and ``close()``. The keeper wakes Main for data on a kept
    /// socket. If a stack that rests is told to stop, the loop polls again for it.
    ///
    /// Source: contract C26.
    ///
    /// - Throws: An error if the stack cannot rest: it then continues as before, and its core does not end. The default
    ///   throws ``SharedCoreError/Code/unsupported``, and the Main does not rest.
    func rest(in context: LoopContext) throws

    /// Continues after a rest; ``prepare()`` follows. Not called for a stack that is told to stop at rest. The default
    /// does nothing.
    ///
    /// Source: contract C26.
    ///
    /// - Parameters:
    ///   - context: The running loop, as for ``start(on:)``.
    ///   - wake: The reason for which the Main was woken.
    func resume(in context: LoopContext, for wake: Wake) throws

    /// Stops at once and returns the state that the next core needs. Called before ``stop(_:)`` if a Main asked that
    /// accepts a kind of batons in ``StopRequest/takes``. A stack that cannot move its work returns nil, as the default
    /// does: ``stop(_:)`` follows.
    ///
    /// Once the stack has given a baton, the loop polls nothing and calls nothing but ``batonEnded(_:)``.
    ///
    /// Source: contract C25.
    func handOver(_ request: StopRequest) throws -> Baton?

    /// Handles the outcome of the baton. If ``BatonEnd/isOwn``, the stack must end its calls over the network before it
    /// returns: ``close()`` follows.
    func batonEnded(_ end: BatonEnd)

    /// Frees everything: sockets, memory, timers. The last call to the stack, also after a call that threw, including
    /// ``start(on:)``.
    func close()
}

extension LoopStack {
    public func rest(in context: LoopContext) throws {
        throw SharedCoreError(.unsupported, "This stack cannot be quiet and stay registered.", at: "LoopStack")
    }

    public func resume(in context: LoopContext, for wake: Wake) throws {}
    public func handOver(_ request: StopRequest) throws -> Baton? { nil }
    public func batonEnded(_ end: BatonEnd) {}
}

/// A descriptor that a loop polls, and the events of it.
public struct LoopDescriptor: Hashable, Sendable {
    /// The events to wait for, or those that have come.
    public struct Events: OptionSet, Hashable, Sendable {
        public let rawValue: Int16

        public init(rawValue: Int16) {
            self.rawValue = rawValue
        }

        /// There is something to read, or to accept.
        public static let readable = Events(rawValue: Poll.readable)
        /// There is room to write, or the connection is made.
        public static let writable = Events(rawValue: Poll.writable)
        /// The other end is closed, or the descriptor has an error. Reported at each wait until the stack no longer
        /// polls the descriptor, even if the stack did not ask for it.
        public static let failed = Events(rawValue: Poll.failed)
    }

    /// Its number.
    public let number: Int32
    /// The events to wait for; for a ready descriptor, the events that came.
    public let events: Events

    public init(_ number: Int32, _ events: Events) {
        self.number = number
        self.events = events
    }
}

/// The conditions that a loop waits for: descriptors, a time, or both.
public struct LoopWait: Hashable, Sendable {
    /// The descriptors to poll. A descriptor may be listed twice. A descriptor that is not open fails the core.
    public let descriptors: [LoopDescriptor]
    /// How long to wait at most, rounded up to whole milliseconds. Nil waits without a limit, and zero polls without a
    /// wait.
    public let timeout: Duration?

    /// Names the descriptors and the time that the loop waits for.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors to poll.
    ///   - timeout: How long to wait at most; nil waits without a limit until a descriptor is ready.
    public init(for descriptors: [LoopDescriptor], atMost timeout: Duration? = nil) {
        self.descriptors = descriptors
        self.timeout = timeout
    }

    /// Waits only for a time: for a stack that must be called at an interval and has no descriptors to poll.
    public static func every(_ interval: Duration) -> LoopWait {
        LoopWait(for: [], atMost: interval)
    }
}
