internal import CoreAPI
internal import Platform

/// A session that the hub keeps for a client. Whoever acts for the hub uses it, one at a time.
final class HubClient {
    let session: SessionID
    let token: [UInt8]
    /// The client's process, when the hub can see its end.
    let process: ProcessHandle?
    /// What is left of the lease, in the hub's own running time; nil when the hub sees the client's end.
    var leaseLeft: Duration?
    /// Whether its session is over and only to be recorded as such, and whether that is being done.
    var mustEnd = false
    var isEnding = false
    /// Where the client's connection arrives; nil as long as it has not come again.
    var address: HubAddress?
    /// What it may do, by the key of that connection.
    var rights = ClientRights.participate
    /// What that connection's requests carry.
    var nonce = ConnectionNonce.none

    init(session: SessionID, token: [UInt8], process: ProcessHandle?, lease: Duration?) {
        self.session = session
        self.token = token
        self.process = process
        self.leaseLeft = lease
    }
}

/// Where a connection arrives: the endpoint's number, and what the library calls the connection.
struct HubAddress: Hashable {
    let door: Int
    let connection: [UInt8]
}
