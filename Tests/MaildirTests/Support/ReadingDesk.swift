internal import Coordination
internal import CoreAPITesting
internal import Platform
internal import TestSupport

@testable internal import MaildirCore

/// Reads bytes as the file that they would be, on a thread like a core's: a large or hostile message takes its time, and
/// its stack, there.
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

    /// Why the bytes are refused; nil when they are not.
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

    /// Whether the screen lets a text pass.
    func passesScreen(_ text: String) async throws -> Bool {
        try await thread.run { [directory] () throws(any Error) in
            let bytes = Array(text.utf8)
            let file = try OpenFile(path: directory.path(of: "screened"), .create)
            try file.truncate(to: 0)
            try file.write(bytes, at: 0)
            return try MailScreen.passes(file, byteCount: bytes.count)
        }
    }
}
