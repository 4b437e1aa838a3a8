internal import CoreAPI
internal import KeptSockets
internal import StoreEngine
internal import WormholeFormat

@testable internal import ZMQBackend

/// The readers of single messages.
enum WireTargets {
    /// The messages that a hub reads from its clients.
    static func request(_ bytes: [UInt8]) {
        requireStable(bytes, { try Request($0) }, { try $0.bytes() })
        _ = Request.needsPeer(bytes)
        let number = Request.number(of: bytes)
        if let request = try? Request(bytes) { require(request.number == number, "a request has two numbers") }
    }

    /// The messages that a client reads from its hub: answers with their records, and the stream.
    static func reply(_ bytes: [UInt8]) {
        requireStable(bytes, { try Reply($0) }, { $0.bytes() })
        requireStable(bytes, { try StreamMessage($0) }, { $0.bytes })
        if case .updates(let updates, _)? = try? StreamMessage(bytes) {
            for effect in updates.effects { _ = Updates.revision(of: effect) }
            send(updates)
        }
        guard let answer = try? Answer(ReceivedFrame(bytes)) else { return }
        var records: [[UInt8]] = []
        guard (try? answer.records.forEach({ records.append($0) })) != nil else { return }
        let frame = answer.reply.frame(records: records)
        let written = [UInt8](unsafeUninitializedCapacity: frame.byteCount) { buffer, count in
            frame.write(to: UnsafeMutableRawBufferPointer(buffer))
            count = frame.byteCount
        }
        var again: [[UInt8]] = []
        try? Answer(ReceivedFrame(written)).records.forEach { again.append($0) }
        require(again == records, "the records of an answer are read as others")
        // Counts have one form each.
        if bytes.starts(with: answer.reply.bytes()) {
            require(written == bytes, "a record that is not whole is read")
        }
    }

    /// Applies updates, and requires that those which a hub then sends are read as the same.
    private static func send(_ updates: Updates) {
        var state = StoreState(historyByteCount: 0, effectByteCount: 1 << 16)
        for payload in updates.effects {
            guard case .effect(let effect)? = try? JournalRecord(payload[...]), effect.revision > state.revision else {
                return
            }
            state.apply(effect)
        }
        guard let sent = try? state.updates(after: .zero), !sent.effects.isEmpty else { return }
        require(sent.last == state.revision, "updates end before the state")
        let message = StreamMessage.updates(sent, incarnation: 1)
        guard case .updates(let read, _)? = try? StreamMessage(message.bytes) else {
            fatalError("finding: updates that were written cannot be read")
        }
        require(read.after == sent.after && read.effects == sent.effects, "updates are read as others")
    }

    static func envelope(_ bytes: [UInt8]) {
        guard let envelope = Envelope(bytes) else { return }
        require(envelope.bytes == bytes, "an envelope has two forms")
    }

    /// The messages that a keeper and its clients read, and the arguments of a keeper.
    static func keeper(_ bytes: [UInt8]) {
        requireStable(bytes, { try KeeperRequest($0) }, { Array($0.text.utf8) })
        if let message = KeeperMessage(bytes) {
            let again = KeeperMessage(Array(message.text.utf8))
            require(again?.text == message.text, "a message of a keeper is read as another")
        }
        if let request = try? KeeperRequest(bytes) {
            let again = try? KeeperRequest(Array(request.text.utf8))
            require(again == request, "a request to a keeper is read as another")
        }
    }
}
