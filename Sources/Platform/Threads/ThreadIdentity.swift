internal import Glibc

/// Which thread it is, for as long as that lives.
package struct ThreadIdentity: RawRepresentable, Hashable, Sendable {
    /// The system's handle; 0 is that of no thread.
    package let rawValue: UInt

    package init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(rawValue: UInt(pthread_self())) }
}
