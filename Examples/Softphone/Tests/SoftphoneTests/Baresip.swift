import Foundation
import Glibc
import Testing

/// A telephone of other authors: baresip, with files for its audio, and commands over its control socket.
final class Baresip {
    let user: String
    private let process = Process()
    private let folder: URL
    private let control: Int32
    private var input: [UInt8] = []
    /// The answers and events of the control socket.
    private(set) var events: [[String: any Sendable]] = []

    /// Starts baresip, and waits until it has registered.
    init(_ name: String, knowing phone: Phone) throws {
        user = name + String(UInt32.random(in: 1_000..<9_999))
        folder = FileManager.default.temporaryDirectory.appending(path: "baresip-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let modules = try #require(Self.modules, "baresip has no folder of modules")
        let port = try Self.freePort()
        let config = """
            sip_listen 127.0.0.1:0
            net_interface 127.0.0.1
            audio_source aufile,\(folder.path)/tone.wav
            audio_player aufile,\(folder.path)/heard.wav
            audio_alert aufile,\(folder.path)/alert.wav
            module_path \(modules)
            module g711.so
            module aufile.so
            module_tmp account.so
            module_app contact.so
            module_app menu.so
            module_app ctrl_tcp.so
            ctrl_tcp_listen 127.0.0.1:\(port)

            """
        let registrar = "sip:127.0.0.1:\(Registrar.port);transport=udp"
        let account =
            "<sip:\(user)@sc.test;transport=udp>;auth_user=\(user);auth_pass=\(Registrar.password)"
            + ";outbound=\"\(registrar)\";regint=60;audio_codecs=PCMU\n"
        let files = [
            "config": Array(config.utf8), "accounts": Array(account.utf8), "tone.wav": Self.tone,
            "contacts": Array("\"Softphone\" <sip:\(phone.user)@sc.test>\n".utf8),
        ]
        for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["baresip", "-f", folder.path]
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        control = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try process.run()
        var address = UDPSocket.address(port)
        let isConnected = until {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(control, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        try #require(isConnected, "\(output)")
        try #require(try until { try Registrar.contacts(of: user).count == 1 }, "\(output)")
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        close(control)
        try? FileManager.default.removeItem(at: folder)
    }

    var output: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

    /// True if its last line of statistics has RTP in both directions. It writes one a second, over three seconds each.
    var hasRTPBothWays: Bool { output.firstMatch(of: #/audio=[1-9][0-9]*/[1-9][0-9]* /#) != nil }

    /// Carries out a command, and returns its output.
    @discardableResult
    func command(_ name: String, _ parameters: String = "") throws -> String {
        let token = UUID().uuidString
        let body = try JSONSerialization.data(
            withJSONObject: ["command": name, "params": parameters, "token": token])
        let bytes = Array("\(body.count):".utf8) + body + Array(",".utf8)
        try #require(send(control, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        var answer: [String: any Sendable]?
        try #require(
            until {
                read()
                answer = events.first { $0["token"] as? String == token }
                return answer != nil
            }, "“\(name)” has no answer: \(output)")
        #expect(answer?["ok"] as? Bool == true, "\(name): \(answer ?? [:])")
        return answer?["data"] as? String ?? ""
    }

    /// Waits for an event of a call.
    func waits(for type: String) throws {
        try #require(
            until {
                read()
                return events.contains { $0["type"] as? String == type }
            }, "no event \(type): \(output)")
    }

    /// Reads what has come: JSON as netstrings.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(control, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { break }
            input += buffer.prefix(count)
        }
        while let colon = input.firstIndex(of: UInt8(ascii: ":")),
            let length = Int(String(decoding: input[..<colon], as: UTF8.self)), input.count > colon + 1 + length
        {
            let body = Data(input[(colon + 1)...(colon + length)])
            input.removeFirst(colon + length + 2)
            let event = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
            events.append(
                event.compactMapValues { value in
                    if let text = value as? String { return text as any Sendable }
                    return (value as? Bool).map { $0 as any Sendable }
                })
        }
    }

    private static var modules: String? {
        let found = try? Command.run("find", "/usr/lib", "-type", "d", "-path", "*/baresip/modules").output
        return found?.split(separator: "\n").first.map(String.init)
    }

    /// 30 s of a tone: 8,000 samples of 16 bits a second.
    static var tone: [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let count = 30 * 8_000
        let samples = (0..<count).flatMap { little($0 / 10 % 2 == 0 ? 4_000 : -4_000, 2) }
        return Array("RIFF".utf8) + little(36 + 2 * count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
            + little(2 * count, 4) + samples
    }

    /// A TCP port that is free at the moment; baresip does not report one that it chooses.
    private static func freePort() throws -> UInt16 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = UDPSocket.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 ? getsockname(listener, $0, &length) : -1
            }
        }
        try #require(result == 0)
        return UInt16(bigEndian: address.sin_port)
    }
}
