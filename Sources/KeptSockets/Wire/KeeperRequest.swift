/// A request to a keeper: one message, answered by one message, or by several as noted.
package enum KeeperRequest: Hashable, Sendable {
    // Requests of Main.

    /// The sender is Main. The message carries the protocol's version.
    case hello
    /// Keep a duplicate of the attached socket.
    case keep(name: String)
    /// Release a kept socket.
    case release(name: String)
    /// Send duplicates of all kept sockets: a `KEPT` for each, then `OK`.
    case take
    /// Main sleeps: watch its sockets and wake it.
    case asleep
    /// Main is in use.
    case awake
    /// Main is alive.
    case alive
    /// The number of active calls.
    case calls(Int)
    /// Main's user closes it.
    case leaving

    // From the process that holds Main's ownership while Main rests (decision 44).

    /// The holder has woken this Main: the budget and the watchdog apply to it from now on.
    case woken(pid: Int32, startTime: UInt64)

    // Requests of the process that administers the keeper.

    case status
    case start(inForeground: Bool)
    case stop
    /// End the keeper, and Main with it.
    case quit
    case configure(KeeperConfiguration)
}

extension KeeperRequest {
    /// The version of the protocol.
    package static let version = 1

    package var text: String {
        switch self {
        case .hello: "HELLO \(Self.version)"
        case .keep(let name): "KEEP \(name)"
        case .release(let name): "RELEASE \(name)"
        case .take: "TAKE"
        case .asleep: "ASLEEP"
        case .awake: "AWAKE"
        case .alive: "ALIVE"
        case .calls(let count): "CALLS \(count)"
        case .leaving: "LEAVING"
        case .woken(let pid, let startTime): "WOKEN \(pid) \(startTime)"
        case .status: "STATUS"
        case .start(let inForeground): inForeground ? "START foreground" : "START"
        case .stop: "STOP"
        case .quit: "QUIT"
        case .configure(let configuration): "CONFIGURE " + configuration.arguments.joined(separator: "\0")
        }
    }

    /// Reads a request from the bytes of a message.
    ///
    /// - Throws: The fault of the message, as a sentence.
    package init(_ bytes: [UInt8]) throws(KeeperProblem) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KeeperProblem(.malformed, "a message is UTF-8")
        }
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        self = try Self.request(String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    }

    private static func request(_ word: String, _ rest: String?) throws(KeeperProblem) -> KeeperRequest {
        if let rest { return try request(word, with: rest) }
        return switch word {
        case "TAKE": .take
        case "ASLEEP": .asleep
        case "AWAKE": .awake
        case "ALIVE": .alive
        case "LEAVING": .leaving
        case "STATUS": .status
        case "START": .start(inForeground: false)
        case "STOP": .stop
        case "QUIT": .quit
        default: throw KeeperProblem(.malformed, "no such request")
        }
    }

    private static func request(_ word: String, with rest: String) throws(KeeperProblem) -> KeeperRequest {
        switch word {
        case "HELLO":
            guard rest == String(version) else {
                throw KeeperProblem(.malformed, "this keeper speaks version \(version)")
            }
            return .hello
        case "KEEP", "RELEASE":
            guard KeeperLimits.isName(rest) else {
                throw KeeperProblem(.malformed, "a name is 1 to 64 letters, digits and “.”, “_”, “-”, “:”")
            }
            return word == "KEEP" ? .keep(name: rest) : .release(name: rest)
        case "CALLS":
            guard let count = UInt16(rest) else { throw KeeperProblem(.malformed, "a number of calls is 0 to 65535") }
            return .calls(Int(count))
        case "WOKEN":
            let words = rest.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let pid = Int32(words[0]), pid > 0, let startTime = UInt64(words[1]) else {
                throw KeeperProblem(.malformed, "WOKEN takes the number of Main's process and its start time")
            }
            return .woken(pid: pid, startTime: startTime)
        case "START" where rest == "foreground": return .start(inForeground: true)
        case "CONFIGURE":
            let arguments = rest.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            return .configure(try KeeperConfiguration(arguments))
        default: throw KeeperProblem(.malformed, "no such request")
        }
    }
}

/// The limits of a keeper.
package enum KeeperLimits {
    /// The largest message, in bytes.
    package static let messageByteCount = 32 << 10
    /// The largest number of kept sockets.
    package static let socketCount = 64
    /// The largest number of connections, including Main's.
    package static let visitorCount = 32

    /// Returns whether a socket may have the name: 1 to 64 letters, digits and `.`, `_`, `-`, `:`.
    package static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}
