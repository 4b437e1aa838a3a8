internal import CoreAPI
internal import StoreEngine

extension Limits {
    /// Refuses limits that promise what a record of the journal does not hold: a value that was accepted would be in the
    /// way of every compaction.
    func requireRecordable() throws(SharedCoreError) {
        let most = StoreState.maximumTransactionByteCount
        for (what, byteCount) in [("value", valueByteCount), ("transaction", transactionByteCount)]
        where byteCount > most {
            throw SharedCoreError(
                .invalidArgument, "In files a \(what) has at most \(most) bytes, so the limit cannot be \(byteCount).",
                at: "limits")
        }
    }
}
