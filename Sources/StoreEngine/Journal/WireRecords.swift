package import CoreAPI

// What a hub and its clients send each other of the engine's values, in the encoding of the journal's records.

extension Transaction {
    /// The transaction as bytes.
    package func payload() throws(SharedCoreError) -> [UInt8] {
        var writer = RecordWriter()
        try writer.transaction(self)
        return writer.bytes.bytes
    }

    /// Reads what ``payload()`` gave. Nothing is trusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    package init(payload: ArraySlice<UInt8>) throws(SharedCoreError) {
        self = try RecordReader.read(payload) { reader throws(ByteCodingError) in try reader.transaction() }
    }
}

extension RequestOutcome {
    /// The outcome as bytes.
    package func payload() -> [UInt8] {
        var writer = RecordWriter()
        writer.outcome(self)
        return writer.bytes.bytes
    }

    /// Reads what ``payload()`` gave. Nothing is trusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    package init(payload: ArraySlice<UInt8>) throws(SharedCoreError) {
        self = try RecordReader.read(payload) { reader throws(ByteCodingError) in try reader.outcome() }
    }
}

extension Effect {
    /// The effect as replicas elsewhere may see it: without what only the order's own backend needs of a session.
    package var forReplicas: Effect {
        guard case .sessionOpened(let opening) = body, !opening.backendData.isEmpty else { return self }
        return Effect(
            revision: revision, time: time,
            body: .sessionOpened(
                SessionOpening(process: opening.process, role: opening.role, name: opening.name, backendData: [])))
    }
}

extension RecordReader {
    fileprivate static func read<Value>(
        _ payload: ArraySlice<UInt8>, _ body: (inout RecordReader) throws(ByteCodingError) -> Value
    ) throws(SharedCoreError) -> Value {
        var reader = RecordReader(payload, external: nil)
        do throws(ByteCodingError) {
            let value = try body(&reader)
            try reader.bytes.finish()
            return value
        } catch {
            throw SharedCoreError(.corrupt, "A message cannot be read: its bytes are \(error).", at: "message")
        }
    }
}
