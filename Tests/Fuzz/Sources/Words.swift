internal import SharedCoreConfiguration

/// The words that the readers of text know.
enum Words {
    static let configuration = TextShape(settings + values + yaml)

    /// The names of all settings, their parts, and their values.
    private static let settings = Settings.all.flatMap { setting in
        [
            setting.name, "\u{0}\(setting.environmentName.dropFirst("SHAREDCORE_".count))=",
            setting.fallback.description, "\(setting.name): ",
        ]
            + setting.name.split(separator: ".").map(String.init)
            + setting.kindName.split(separator: ", ").map(String.init)
    }

    private static let values = [
        "1ms", "1.5s", "2m", "1h", "99999999h", "0s", "24MiB", "1KiB", "9GiB", "1125899906842624KiB", "none", "auto",
        "a \"b c\" 'd'", "a 'b\"c'", "\"it's\"", "\"'\\\"'\"", "\"\\n\\u0301' '\"", "tcp://127.0.0.1:1",
        "ipc:///a", "/a/b", "~/a", "chat-1", "0123456789abcdefghijklmnopqrstuvwxyzABCD", "call=a;message=b",
    ]

    private static let yaml = [
        "---\n", "...\n", "%YAML 1.1\n", "&a ", "*a", "!!str ", "|\n  ", ">-\n  ", "? ", ": ", "- ", "# ", "{", "}",
        "[",
        "]", "\"", "'", "\\u0301", "\\n", "null", "~", "\n  ", "\u{0}",
    ]

    static let keeper = TextShape(
        [
            "HELLO", "KEEP", "RELEASE", "TAKE", "ASLEEP", "AWAKE", "ALIVE", "LEAVING", "CALLS", "WOKEN", "START",
            "foreground", "STATUS", "STOP", "QUIT", "CONFIGURE", "OK", "ERROR", "KEPT", "WAKE", "ENDING", "state",
            "main",
            "calls", "restartIn", "kept", "lastEnd", "exited", "killed", "running", "\u{0}--\u{0}", "--window-ms\u{0}",
            "--restart-limit\u{0}", "--watchdog-ms\u{0}", "--wake-budget-ms\u{0}", "malformed", "busy",
        ])

    static let command = TextShape(
        [
            "\"jsonrpc\":\"2.0\",", "\"id\":", "\"method\":", "\"params\":", "\"result\":", "\"error\":", "\"code\":",
            "\"message\":", "deliver", "update", "withdraw", "beginActivity", "endActivity", "beginCall", "changeCall",
            "endCall", "report", "\"account\":", "\"body\":", "\"boundMs\":", "\"contentType\":", "\"conversation\":",
            "\"expectedEndMs\":", "\"fields\":{\"a\":\"b\"},", "\"from\":", "\"kind\":", "\"text\"", "\"invitation\"",
            "\"too-large\"", "\"nothing\"", "\"localAddress\":", "\"media\":[\"audio\",\"video\"],",
            "\"problem\":\"a\",",
            "\"reason\":", "\"sequence\":1,", "\"state\":", "\"subject\":\"a\",", "\"timeMs\":5,", "ringing",
            "answered",
            "held", "remotelyHeld", "incoming", "outgoing", "missed", "declined", "busy", "failed", "answeredElsewhere",
            "hungUp", "remoteHungUp", "true", "false", "null", "-0", "1e400", "\\ud83d", "\\ude00", "\\u0000", "{}",
            "[]",
        ])

    static let push = TextShape(
        [
            "PUSH ", "\"callID\":\"a\",", "\"type\":\"call\",", "\"account\":\"b\",", "\"payload\":\"AA==\",",
            "\"\":\"\",",
            "AB==", "AAB=", "AAAA", "====", "\\u0063", "\\ud83d", "\\u0000", "\r", "\u{301}", "null", "{}", "{\"",
            "\"}",
        ])

    static let mime = TextShape(
        [
            "Message-ID: <a@b>\n", "From: a@b\n", "To: c@d\n", "Call-ID: 1\n", "Date: Mon, 1 Jan 2024 00:00:00 +0000\n",
            "Subject: ", "MIME-Version: 1.0\n", "X-SharedCore-Kind: ", "invitation", "Content-Type: ", "text/plain",
            "text/html", "multipart/mixed; boundary=b\n", "multipart/alternative", "message/rfc822",
            "application/conference-info+xml", "; charset=", "utf-8", "iso-8859-1", "utf-7", "charset*0*=", "name*1=",
            "Content-Transfer-Encoding: ", "base64", "quoted-printable",
            "Content-Disposition: attachment; filename=a\n",
            "\n\n", "--b\n", "--b--\n", "=?utf-8?q?", "=?utf-8?b?", "?=", "=\n", "=00", ": ", "\n\t", "\r\n", "&amp;",
            "&#x41;", "&#1114112;", "&lt;", "<p>", "<br>", "<script>", "</script>", "<!--", "-->", "<style>", "\u{0}",
        ])
}
