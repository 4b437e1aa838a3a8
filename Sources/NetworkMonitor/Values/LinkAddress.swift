/// An address that an interface of this machine has.
package struct LinkAddress: Hashable, Sendable {
    /// The interface's number.
    package var link: UInt32
    package var address: IPAddress
    /// Whether packets to other networks can come from it: it is valid beyond the link, and the search for a duplicate is
    /// over.
    package var isUsable: Bool

    package init(link: UInt32, address: IPAddress, isUsable: Bool = true) {
        self.link = link
        self.address = address
        self.isUsable = isUsable
    }
}
