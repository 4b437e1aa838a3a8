/// A network interface as the kernel reports it.
package struct NetworkLink: Hashable, Sendable {
    /// The kernel's number for it, unique in a network namespace.
    package var index: UInt32
    package var name: String
    /// Whether it leads to this machine only.
    package var isLoopback: Bool
    /// Whether somebody has switched it on.
    package var isUp: Bool
    /// Whether it is on and can carry packets: a cable, a station, a peer is there.
    package var isRunning: Bool

    package init(index: UInt32, name: String, isLoopback: Bool = false, isUp: Bool = true, isRunning: Bool = true) {
        self.index = index
        self.name = name
        self.isLoopback = isLoopback
        self.isUp = isUp
        self.isRunning = isRunning
    }
}
