import Foundation
import Synchronization
import Testing

/// Watches what the registrar knows of one telephone: its contacts every 50 ms, and each of its REGISTER requests.
final class Witness: Sendable {
    /// One contact, as the registrar has it.
    struct Contact: Hashable, Sendable {
        let address: String
        /// The TCP connection of its REGISTER.
        let connection: String
    }

    private struct State {
        var dumps = 0
        var most: [Contact] = []
        /// Each contact that was seen, in order.
        var seen: [Contact] = []
        var isOver = false
        var hasEnded = false
        /// True if kamcmd ended before the watch.
        var wasCut = false
    }

    private let user: String
    private let state = Mutex(State())
    private let firstLine: Int

    init(of phone: Phone) throws {
        user = phone.user
        firstLine = Self.log.count
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["kamcmd", "-s", "unix:\(Registrar.directory)/ctl"]
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let (write, read) = (input.fileHandleForWriting, output.fileHandleForReading)
        Thread.detachNewThread { [self] in
            _ = Self.answer(from: read)  // its greeting
            while !state.withLock(\.isOver) {
                write.write(Data("ul.lookup location \(user)@sc.test\n".utf8))
                guard let answer = Self.answer(from: read) else {
                    state.withLock { $0.wasCut = true }
                    break
                }
                note(Self.contacts(in: answer))
                usleep(50_000)
            }
            try? write.close()
            process.waitUntilExit()
            state.withLock { $0.hasEnded = true }
        }
    }

    /// Ends the watch, and checks that it has read the contacts, and at most one at any time.
    func endAndCheck() {
        end()
        #expect(until(5) { state.withLock(\.hasEnded) }, "kamcmd of the witness has not ended")
        #expect(dumps > 5, "the witness has read the contacts too rarely")
        #expect(!wasCut, "kamcmd of the witness has ended too early")
        #expect(!seen.isEmpty, "the witness has seen no contact")
        #expect(most.count <= 1, "\(most)")
    }

    /// Ends the watch, where the test has failed before its end.
    func end() { state.withLock { $0.isOver = true } }

    /// How often the contacts were read.
    var dumps: Int { state.withLock(\.dumps) }
    /// The contacts of the dump with the most of them.
    var most: [Contact] { state.withLock(\.most) }
    private var wasCut: Bool { state.withLock(\.wasCut) }
    var seen: [Contact] { state.withLock(\.seen) }

    /// The REGISTER requests of the telephone, as the registrar has logged them.
    var registers: [String] {
        Self.log.dropFirst(firstLine).filter { $0.contains("REGISTER \(user) ") }.map(String.init)
    }

    private func note(_ contacts: [Contact]) {
        state.withLock { state in
            state.dumps += 1
            if contacts.count > state.most.count { state.most = contacts }
            for contact in contacts where !state.seen.contains(contact) { state.seen.append(contact) }
        }
    }

    private static var log: [Substring] {
        ((try? String(contentsOfFile: "\(Registrar.directory)/log", encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// The text up to the next prompt; nil at the end of the program.
    private static func answer(from handle: FileHandle) -> String? {
        var text = ""
        while !text.hasSuffix("kamcmd> ") {
            let data = handle.availableData
            if data.isEmpty { return nil }
            text += String(decoding: data, as: UTF8.self)
        }
        return text
    }

    private static func contacts(in answer: String) -> [Contact] {
        func values(_ name: String) -> [String] {
            answer.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        }
        return zip(values("Address: "), values("Tcpconn-Id: ")).map { Contact(address: $0, connection: $1) }
    }
}
