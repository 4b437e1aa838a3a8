package import CoreAPI

/// Moves a baton to another process by means of the operating system, such as sockets.
package protocol BatonTransport: Sendable {
    /// Keeps a baton that a core has given, for the next owner's process. The keeper holds duplicates of the baton's
    /// descriptors, so that the core may close its own.
    func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping
    /// Requests a baton from the processes that keep it.
    ///
    /// - Returns: The baton; the failure says why no process has it, as text for users.
    func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem>
}

/// The keeper of a baton in this process.
package protocol BatonKeeping: Sendable {
    /// The path of the socket at which the keeper gives the baton.
    var path: String { get }
    /// Sends the baton's bytes, with duplicates of its descriptors, to the group's host, so that the baton survives the
    /// end of this process. Waits for the host's answer for a bounded time.
    ///
    /// - Parameters:
    ///   - path: The socket of the host.
    ///   - deadline: The time until which the host is to keep the baton.
    /// - Returns: True if the host has confirmed that it keeps the baton; false if it refuses, cannot be reached, or does
    ///   not answer in time.
    func deposit(at path: String, until deadline: BootInstant) async -> Bool
    /// Closes the keeper's duplicates of the descriptors, and gives the baton no more. Idempotent.
    func close()
}

/// An open descriptor of a baton, which is closed with its last reference.
package protocol BatonFile: AnyObject, Sendable {}

/// A baton in the process that is to apply it.
package struct FetchedBaton: Sendable {
    let bytes: [UInt8]
    let files: [any BatonFile]
}

/// Why a baton cannot be used, for people.
package struct BatonProblem: Error, Sendable {
    let text: String
    /// True if the problem may be temporary, so that an immediate second attempt can succeed.
    var mayPass = false

    init(_ text: String) {
        self.text = text
    }
}

/// A transport without connections: no other process can get a baton.
struct NoBatonTransport: BatonTransport {
    func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping {
        throw SharedCoreError(.unsupported, "This process cannot give a baton to others.", at: "baton")
    }

    func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        .failure(BatonProblem("this process cannot receive batons"))
    }
}
