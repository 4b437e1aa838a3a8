internal import Coordination
internal import CoreAPI
internal import Platform

@testable internal import MaildirCore

/// The file of a message in a Maildir.
enum MimeTarget {
    private static let file = try? OpenFile(path: scratchPath("mime"), .create)

    static func run(_ input: [UInt8]) {
        guard let file, let library = try? MimeLibrary.shared() else { fatalError("GMime is missing.") }
        do {
            try file.truncate(to: 0)
            try file.write(input, at: 0)
        } catch { fatalError("The scratch file cannot be written.") }
        var limits = MailLimits()
        limits.textByteCount = 1 << 10
        limits.fieldByteCount = 1 << 10
        limits.nesting = 8
        limits.partCount = 64
        let reader = MailReader(library: library, limits: limits)
        let callID = try? reader.identifier(of: file, byteCount: input.count)
        guard let message = try? reader.read(file, byteCount: input.count) else { return }
        require(callID != nil, "a message has no identifier")
        require(message.content.problem == nil, "a message is none that the inbox takes")
    }
}
