public import CoreAPI

/// Where values lie that are too large to keep in every replica's memory, such as a journal file.
///
/// The values that refer to a source keep it alive, so a file that was replaced can be read until nobody needs it.
public protocol ValueSource: AnyObject, Sendable {
    /// Reads `count` bytes from `offset` on.
    func bytes(at offset: UInt64, count: Int) throws(SharedCoreError) -> [UInt8]
}
