package import CoreAPI

/// How one message is taken, also where the answer is lost.
extension QueueMailbox {
    /// How often, and how many times, a take is looked for whose answer was lost and whose caller does not wait.
    private static let searchInterval = Duration.seconds(1)
    private static let searchCount = 60

    /// Tries to take a message as it was seen; nil when something changed.
    ///
    /// A take whose answer is lost may stand, and would keep the message from everybody: it is looked for, and known by
    /// its nonce. Where that look fails too, the take is given back as soon as it is found.
    package func take(_ message: Entry, of item: ItemName) async throws(SharedCoreError) -> QueueDelivery? {
        let nonce = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        var transaction = Transaction()
        try addTake(of: message, item: item, nonce: nonce, to: &transaction)
        do throws(SharedCoreError) {
            let commit = try await store.commit(transaction)
            return QueueDelivery(of: message, item: item, epoch: commit.revision)
        } catch {
            if isOutdated(error) { return nil }
            guard error.code == .outcomeUnknown else { throw error }
            return try await search(nonce, for: message, of: item, after: error)
        }
    }

    private func search(
        _ nonce: [UInt8], for message: Entry, of item: ItemName, after lost: SharedCoreError
    ) async throws(SharedCoreError) -> QueueDelivery? {
        do throws(SharedCoreError) {
            if let delivery = try await find(nonce, for: message, of: item) { return delivery }
        } catch {
            Task { await giveBackWhenFound(nonce, for: message, of: item) }
        }
        throw lost
    }

    /// The delivery of a take that stands.
    private func find(
        _ nonce: [UInt8], for message: Entry, of item: ItemName
    ) async throws(SharedCoreError) -> QueueDelivery? {
        guard let take = try await self.item(item).take, take.origin == store.session.id, take.value == nonce else {
            return nil
        }
        return QueueDelivery(of: message, item: item, epoch: take.revision)
    }

    private func giveBackWhenFound(_ nonce: [UInt8], for message: Entry, of item: ItemName) async {
        for _ in 0..<Self.searchCount {
            do throws(SharedCoreError) {
                if let delivery = try await find(nonce, for: message, of: item) { try await giveBack(delivery) }
                return
            } catch {
                // What a session has taken ends with it.
                if error.code == .closed || error.code == .sessionEnded { return }
            }
            do { try await Task.sleep(for: Self.searchInterval) } catch { return }
        }
    }
}
