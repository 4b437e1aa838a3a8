/// One thing that the kernel reports.
package enum NetworkChange: Hashable, Sendable {
    /// The interface is there and looks like this.
    case link(NetworkLink)
    /// The interface is gone.
    case linkGone(UInt32)
    case address(LinkAddress)
    case addressGone(LinkAddress)
    case route(DefaultRoute)
    case routeGone(DefaultRoute)
    /// A default route with these hops, one or more, took the place of another, which is not reported as gone.
    case routesReplaced([DefaultRoute])
}
