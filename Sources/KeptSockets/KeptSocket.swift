public import CoreAPI
internal import Platform

/// A socket that the keeper has kept.
public struct KeptSocket: Sendable {
    /// The name that it was registered with.
    public let name: String
    let file: OpenFile

    /// A descriptor of the socket, which is the caller's to close, and closed in programs that are started.
    public func descriptor() throws(SharedCoreError) -> Int32 {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.duplicate() }
    }
}
