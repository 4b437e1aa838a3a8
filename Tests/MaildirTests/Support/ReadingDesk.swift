internal import Coordination
internal import Platform
internal import TestSupport

@testable internal import MaildirCore

/// Reads bytes as the file that they would be.
struct ReadingDesk {
    let reader: MailReader
    private let directory: TemporaryDirectory

    init(limits: MailLimits = MailLimits()) throws {
        directory = try TemporaryDirectory()
        reader = MailReader(library: try MimeLibrary.shared(), limits: limits)
    }

    func read(_ bytes: [UInt8]) throws -> InboxMessage {
        let file = try OpenFile(path: directory.path(of: "message"), .create)
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        return try reader.read(file, byteCount: bytes.count)
    }

    func read(_ text: String) throws -> InboxMessage {
        try read(Array(text.utf8))
    }

    /// Why the bytes are refused; nil when they are not.
    func refusal(of bytes: [UInt8]) throws -> MailRefusal? {
        do {
            _ = try read(bytes)
            return nil
        } catch let error as MailRefusal {
            return error
        }
    }

    func refusal(of text: String) throws -> MailRefusal? {
        try refusal(of: Array(text.utf8))
    }
}
