/// Where the kernel's reports of links, addresses and routes come from: a ``RouteSocket``, or what a test puts in its place.
package protocol RouteReports: Sendable {
    /// The descriptor to poll for reading.
    var descriptor: Int32 { get }

    /// Asks for all of a kind; the answer comes in messages that carry the sequence number.
    func ask(for kind: RouteSocket.Kind, sequence: UInt32) throws(SystemCallError)

    /// Takes the next datagram without waiting; nil when there is none.
    func take() throws(SystemCallError) -> RouteSocket.Taken?
}
