internal import Synchronization

/// What a caller and the link know a request by: the caller's task may be cancelled before the link has it.
final class RequestTicket: Sendable {
    /// The request's number; 0 as long as it has none.
    let number = Atomic<UInt64>(0)
    let isWithdrawn = Atomic(false)
}
