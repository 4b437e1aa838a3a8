internal import Coordination
internal import CoreAPITesting
internal import Platform
internal import TestSupport

@testable internal import MaildirCore

/// Reads bytes as the file that they would be, on a thread like a core's: a large or hostile message takes its time,
/// and its stack, there.
struct ReadingDesk {
    private let reader: MailReader
    private let directory: TemporaryDirectory
    private let thread = SerialThread(name: "reading")

    init(limits: MailLimits = MailLimits()) throws {
        directory = try TemporaryDirectory()
        reader = MailReader(library: try MimeLibrary.shared(), limits: limits)
    }

    func read(_ bytes: [UInt8]) async throws -> InboxMessage {
        try await thread.run { [reader, directory] () throws(any Error) in
            let file = try OpenFile(path: directory.path(of: "message"), .create)
            try file.truncate(to: 0)
            try file.write(bytes, at: 0)
            return try reader.read(file, byteCount: bytes.count)
        }
    }

    func read(_ text: String) async throws -> InboxMessage {
        try await read(Array(text.utf8))
    }

    /// The refusal of the bytes; nil when they are not refused.
    func refusal(of bytes: [UInt8]) async throws -> MailRefusal? {
        do {
            _ = try await read(bytes)
            return nil
        } catch let error as MailRefusal {
            return error
        }
    }

    func refusal(of text: String) async throws -> MailRefusal? {
        try await refusal(of: Array(text.utf8))
    }

    /// The identifier of a message, read as for a push.
    func identifier(of bytes: [UInt8]) async throws -> String {
        try await thread.run { [reader, directory] () throws(any Error) in
            let file = try OpenFile(path: directory.path(of: "announced"), .create)
            try file.truncate(to: 0)
            try file.write(bytes, at: 0)
            return try reader.identifier(of: file, byteCount: bytes.count).text
        }
    }

    /// The beginnings of the lines of a file, and where they begin.
    func lines(of bytes: [UInt8], upTo end: Int) async throws -> [(start: Int, bytes: [UInt8])] {
        try await thread.run { [directory] () throws(any Error) in
            let file = try OpenFile(path: directory.path(of: "lines"), .create)
            try file.truncate(to: 0)
            try file.write(bytes, at: 0)
            let lines = MailLines(file, byteCount: end)
            var found: [(Int, [UInt8])] = []
            while let line = try lines.next() { found.append((line.start, Array(line.bytes))) }
            return found
        }
    }
}

extension InboxMessage.Content {
    /// The content without its time and its content type.
    var withoutDetails: InboxMessage.Content {
        var content = self
        (content.time, content.contentType) = (nil, nil)
        return content
    }
}
