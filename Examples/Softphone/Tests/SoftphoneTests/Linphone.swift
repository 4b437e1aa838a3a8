import Foundation
import Testing

/// A telephone of other authors: linphonec, with files for its audio, and commands on its standard input.
final class Linphone {
    let user: String
    private let process = Process()
    private let input = Pipe()
    private let folder: URL

    /// Starts linphonec, and waits until it has registered.
    init(_ name: String, transport: String) throws {
        user = name + String(UInt32.random(in: 1_000..<9_999))
        folder = FileManager.default.temporaryDirectory.appending(path: "linphone-\(UUID())")
        // linphonec does not make the folder of its databases.
        try FileManager.default.createDirectory(
            at: folder.appending(path: ".local/share/linphone"), withIntermediateDirectories: true)
        try Data(configuration(over: transport).utf8).write(to: folder.appending(path: "configuration"))
        try Data(Baresip.tone).write(to: folder.appending(path: "tone.wav"))
        try Data().write(to: folder.appending(path: "output"))
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["linphonec", "-c", folder.path + "/configuration", "-d", "6", "-l", folder.path + "/log"]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path + "/.config",
            "XDG_DATA_HOME": folder.path + "/.local/share", "PULSE_RUNTIME_PATH": folder.path + "/pulse",
        ]) { $1 }
        let handle = try FileHandle(forWritingTo: folder.appending(path: "output"))
        process.standardInput = input
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        try #require(try until { try Registrar.contacts(of: user).count == 1 }, "\(output)")
        // The commands are carried out in their order.
        type("soundcard use files")
        type("play \(folder.path)/tone.wav")
        type("record \(folder.path)/heard.wav")
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    var output: String { text("output") }

    /// The RTP packets of the call that has ended, from the statistics that linphonec logs then; nil before its end.
    var packets: (sent: Int, received: Int)? {
        let statistics = #/AUDIO SESSION'S RTP STATISTICS(?s:.*?)sent +(\d+) packets(?s:.*?)received +(\d+) packets/#
        guard let found = text("log").firstMatch(of: statistics), let sent = Int(found.1), let received = Int(found.2)
        else { return nil }
        return (sent, received)
    }

    /// The size of the file that linphonec records a call to.
    var recorded: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path + "/heard.wav")
        return attributes?[.size] as? Int ?? 0
    }

    func type(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    func says(_ text: String) throws {
        try #require(until { output.contains(text) }, "linphonec does not say “\(text)”, but: \(output)")
    }

    private func text(_ name: String) -> String {
        (try? String(decoding: Data(contentsOf: folder.appending(path: name)), as: UTF8.self)) ?? ""
    }

    /// Free ports (-1) on loopback, one account, no presence.
    private func configuration(over transport: String) -> String {
        """
        [sip]
        sip_port=-1
        sip_tcp_port=-1
        sip_tls_port=0
        bind_address=127.0.0.1
        guess_hostname=0
        contact=sip:\(user)@127.0.0.1
        use_ipv6=0
        default_proxy=0
        register_only_when_network_is_up=0

        [rtp]
        audio_rtp_port=-1
        video_rtp_port=-1
        text_rtp_port=-1

        [proxy_0]
        reg_proxy=<sip:127.0.0.1:\(Registrar.port);transport=\(transport)>
        reg_route=<sip:127.0.0.1:\(Registrar.port);transport=\(transport);lr>
        reg_identity=sip:\(user)@sc.test
        reg_expires=60
        reg_sendregister=1
        publish=0

        [auth_info_0]
        username=\(user)
        passwd=\(Registrar.password)
        realm=*

        """
    }
}
