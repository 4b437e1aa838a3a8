internal import Platform

@testable internal import FileNotifyBackend
@testable internal import StoreEngine

/// Writes the files of a group with one journal anew as layout 3 had them, when no process has them open.
///
/// In that layout a frame was 8 bytes of length, 8 bytes of a checksum of the payload that continues the one before, and the
/// payload. The words that change were others, and some records did not exist; what is read of them is the same.
func writeInLayout3(_ path: String) throws {
    let file = try OpenFile(path: path + "/journal-1", .write)
    let journal = try Journal(file)
    let bytes = try file.read(count: journal.word.tail, at: 0)

    func word(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    /// The frames from a place to another one, or the one that holds it.
    func frames(from start: Int, to end: Int, salt: UInt64) -> [UInt8] {
        var frames: [UInt8] = []
        var chain = salt
        var offset = start
        while offset < end {
            let header = FrameHeader(bytes[offset...])
            let payload = bytes[(offset + FrameHeader.byteCount)...].prefix(Int(header.length))
            chain = Checksum.of(payload, continuing: chain)
            frames += word(header.length) + word(chain) + payload
            offset = payload.endIndex
        }
        return frames
    }

    let records = frames(from: JournalHeader.byteCount, to: bytes.count, salt: journal.header.salt)
    try file.write(word(3), at: 8)
    try file.write(frames(from: 16, to: 17, salt: JournalHeader.magic), at: 16)
    try file.write(word(UInt64(JournalHeader.byteCount + records.count)), at: JournalHeader.wordsOffset)
    try file.write([UInt8](repeating: 0, count: bytes.count - JournalHeader.byteCount), at: JournalHeader.byteCount)
    try file.write(records, at: JournalHeader.byteCount)
    try OpenFile(path: path + "/sessions", .write).write(word(3), at: 8)
}
