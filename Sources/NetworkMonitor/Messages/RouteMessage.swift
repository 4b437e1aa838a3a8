/// One message of the kernel, as far as it is of interest here.
///
/// Source: netlink(7), rtnetlink(7); the numbers are those of linux/netlink.h and linux/rtnetlink.h.
package struct RouteMessage: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// What is there, or has changed. Nothing when the message is about things that nobody here asks for.
        case changes([NetworkChange])
        /// All that was asked for has come.
        case ended
        /// What was asked for is not given; the error number.
        case refused(Int32)
        /// The kernel says that messages were lost.
        case lost
    }

    package var content: Content
    /// The number of the request that this answers; nil for a report of its own accord.
    package var answers: UInt32?
    /// Whether something changed in the middle of the answer, so that it may not be whole.
    package var isInterrupted: Bool

    package init(_ content: Content, answers: UInt32? = nil, isInterrupted: Bool = false) {
        self.content = content
        self.answers = answers
        self.isInterrupted = isInterrupted
    }
}
