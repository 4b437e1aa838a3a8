internal import CoreAPI
internal import Wormholes

/// What a second process can be told to do with mailboxes of ``Parcel``.
enum PeerMailboxes {
    /// Sends parcels with rising numbers.
    static func produce(_ count: Int, by sender: Int, in group: any SharedGroup) async throws(WormholeError) {
        let wormhole = Wormhole(group)
        for number in 0..<count { try await wormhole.send(Parcel(sender: sender, number: number), to: .queue) }
    }

    /// Takes parcels for ever, and writes each into the dictionary in the commit that acknowledges it.
    static func consume(in group: any SharedGroup) async throws {
        for try await message in try await Wormhole(group).consume(.queue) {
            let parcel = try message.message
            let done = try Key("done/\(parcel.sender)/\(parcel.number)")
            var transaction = Transaction(guards: [.absent(done)])
            try message.addAcknowledgement(to: &transaction)
            transaction.put(done, [])
            do throws(SharedCoreError) {
                _ = try await group.commit(transaction)
            } catch {
                // Not the take of one that lost it, which another one has then.
                if error.guardFailure?.condition == .absent(done) {
                    try await group.put(Key("twice/\(parcel.sender)/\(parcel.number)"), [])
                }
            }
        }
    }
}
