package import CoreAPI

// The values of the engine that a hub and its clients send each other, in the encoding of the journal's records.

extension Transaction {
    /// Returns the transaction as bytes.
    package func payload() throws(SharedCoreError) -> [UInt8] {
        var writer = RecordWriter()
        try writer.transaction(self)
        return writer.bytes.bytes
    }

    /// Reads the bytes of ``payload()``. Nothing is trusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    package init(payload: ArraySlice<UInt8>) throws(SharedCoreError) {
        self = try RecordReader.read(payload) { reader throws(ByteCodingError) in try reader.transaction() }
    }
}

extension RequestOutcome {
    /// Returns the outcome as bytes.
    package func payload() -> [UInt8] {
        var writer = RecordWriter()
        writer.outcome(self)
        return writer.bytes.bytes
    }

    /// Reads the bytes of ``payload()``. Nothing is trusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    package init(payload: ArraySlice<UInt8>) throws(SharedCoreError) {
        self = try RecordReader.read(payload) { reader throws(ByteCodingError) in try reader.outcome() }
    }
}
