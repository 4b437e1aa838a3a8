internal import CoreAPI
internal import Glibc
internal import NetworkMonitor
internal import Platform

/// Prints the states of the network that it runs in, one a line, so that a test can run it in a network of its own.
///
/// With `--record` it prints what the kernel reports instead, a datagram a line: bytes in hexadecimal digits, and `*8` for
/// eight zeros. The tests' recorded messages are made from it.
@main
struct NetworkWatcher {
    static func main() async throws {
        guard CommandLine.arguments.dropFirst().first != "--record" else { return try record() }
        // The program ends with the reader of its lines, also when that process was killed.
        try OwnedThread.start("reader") {
            _ = Poll.wait(for: [STDOUT_FILENO], timeout: nil)
            exit(0)
        }
        let monitor = try await NetworkMonitor.open()
        for await state in monitor.states {
            say(monitor.losses == 0 ? "\(state)" : "\(state), after losses")
        }
    }

    private static func record() throws {
        let socket = try RouteSocket()
        var kinds = RouteSocket.Kind.allCases[...]
        var sequence: UInt32 = 0
        func askForNext() throws {
            guard let kind = kinds.popFirst() else { return }
            sequence += 1
            try socket.ask(for: kind, sequence: sequence)
        }
        try askForNext()
        while true {
            _ = Poll.wait(for: [socket.descriptor], timeout: nil)
            while case .messages(let bytes)? = try socket.take() {
                say(short(bytes))
                if RouteMessage.read(bytes).contains(where: { $0.content == .ended }) { try askForNext() }
            }
        }
    }

    private static func short(_ bytes: [UInt8]) -> String {
        var words: [String] = [""]
        var rest = bytes[...]
        while let byte = rest.first {
            let zeros = rest.prefix { $0 == 0 }.count
            if zeros >= 4 {
                words += ["*\(zeros)", ""]
            } else {
                words[words.count - 1] += (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            rest = rest.dropFirst(zeros >= 4 ? zeros : 1)
        }
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Prints a line at once, to any kind of output.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
