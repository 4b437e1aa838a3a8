/// One hop of a route to everywhere, of the main table.
package struct DefaultRoute: Hashable, Sendable {
    package var family: IPAddress.Family
    /// The interface's number.
    package var link: UInt32
    /// The router; nil where everybody is behind the interface itself.
    package var gateway: IPAddress?
    /// The address that packets come from, where the route says so.
    package var source: IPAddress?
    /// The lower one is taken.
    package var priority: UInt32

    package init(
        family: IPAddress.Family, link: UInt32, gateway: IPAddress? = nil, source: IPAddress? = nil,
        priority: UInt32 = 0
    ) {
        self.family = family
        self.link = link
        self.gateway = gateway
        self.source = source
        self.priority = priority
    }
}
