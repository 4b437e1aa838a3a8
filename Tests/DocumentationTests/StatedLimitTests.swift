internal import Foundation
internal import Testing

/// If a limit in the threat model or in the contract is wrong, the page promises something that the code does not keep.
@Suite("E2: the limits of the threat model and of the contract are those of the code")
struct StatedLimitTests {
    /// A number on a page, and the number in the code that it states.
    struct Limit: Sendable, CustomTestStringConvertible {
        /// Words of the page, with “#” for the number.
        let words: String
        /// The file below Sources, or one of Scripts.
        let file: String
        /// The text of the file in front of the number.
        let code: String
        /// The conversion of the code's number into that of the page.
        let scale: Scale
        let page: String

        var testDescription: String { words }

        /// The intervals in which the hub polls its connections are those of ``RelayThread/lookInterval``.
        enum Scale: Sendable {
            case none
            /// The code states a number for an interval, the page for a second.
            case second
            /// The code has a count of intervals, the page their time.
            case time
        }

        init(
            _ words: String, _ file: String, _ code: String, per scale: Scale = .none,
            page: String = "Docs/Reference/Security.md"
        ) {
            (self.words, self.file, self.code, self.scale, self.page) = (words, file, code, scale, page)
        }

        /// A number of the contract.
        init(contract words: String, _ file: String, _ code: String) {
            self.init(words, file, code, page: "Docs/Reference/Contract.md")
        }

        /// The number on the page, in bytes or milliseconds.
        func told() throws -> Double {
            let page = try Repository.text(page).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let parts = words.components(separatedBy: "#")
            try #require(parts.count == 2)
            let pattern =
                NSRegularExpression.escapedPattern(for: parts[0])
                + "((?:[0-9][0-9,.]*|five)(?: (?:KiB|MiB|GiB|ms|s)\\b)?)"
                + NSRegularExpression.escapedPattern(for: parts[1])
            let found = page.matches(of: try Regex(pattern))
            try #require(found.count == 1, "found \(found.count) times on the page")
            return try #require(found[0][1].substring.flatMap { StatedLimitTests.number(onPage: $0) })
        }
    }

    private static let network = "Backends/ZMQ/Network/"
    private static let hub = "Backends/ZMQ/Hub/"
    private static let wire = "Backends/ZMQ/Wire/Wire.swift"
    private static let mail = "Cores/Maildir/Mail/"
    private static let local = "Backends/FileNotify/Local/"
    private static let compaction = local + "LocalGroup+Compaction.swift"

    private static let compactionWait = Limit(
        contract: "such a commit waits # for it, then", compaction, "compactionTimeout = ")
    private static let frozenCompactors = Limit(
        contract: "At most # processes that compact one journal", compaction, "Journal.compactionLockByte + ")

    static let limits = [
        Limit("a baton is at most # bytes", wire, "batonByteLimit = "),
        Limit("An update waits at most # for others", hub + "HubService+Updates.swift", "updatesDelay = "),
        Limit(
            "whose core has stopped waits # at most", "Coordination/CoordinationOptions.swift", "releaseBound = ",
            page: "Docs/Guide/Hub.md"),
        Limit(
            "a close # where the connection is lost", "Backends/ZMQ/Client/HubLink+Leaving.swift",
            "lostClosingGrace = ", page: "Docs/Guide/Hub.md"),
        Limit(
            "has answered nothing for # after a request", "Backends/ZMQ/Client/HubLink+Leaving.swift", "silence = ",
            page: "Docs/Guide/Hub.md"),
        Limit(
            contract: "commits of at most # of keys", "StoreEngine/State/RoomClaim.swift", "commitByteCount = "),
        Limit("says first (# bytes) |", network + "Lobby.swift", "clientByteCount = "),
        Limit("bytes) | #, and 256 of one address", network + "RelayThread.swift", "lobbyLimit = "),
        Limit("| 1,024, and # of one address", network + "Lobby.swift", "addressLimit = "),
        Limit("256 of one address; each for #, and of the address", network + "ConnectionTimes.swift", "var key = "),
        Limit("not proved a key | #, and 16", network + "Admission.swift", "static let limit = "),
        Limit("not proved a key | 256, and # of one", network + "Admission.swift", "unknown = Share(addressLimit: "),
        Limit("16 of one address; each for #, and one", network + "ConnectionTimes.swift", "var key = "),
        Limit("one that is there for # gives way", network + "Admission.swift", "timeout = "),
        Limit(
            "# are let in every quarter of a second", network + "Admission.swift",
            "unknown = Share(addressLimit: 16, count: "),
        Limit("has # places of its own", network + "Admission.swift", "let known = Share(addressLimit: "),
        Limit(
            "each quarter of a second # connections of all such addresses", network + "Admission.swift",
            "let known = Share(addressLimit: 128, count: "),
        Limit(
            "at least 1/(k+1) of the #: half", network + "Admission.swift",
            "unknown = Share(addressLimit: 16, count: "),
        Limit("is forgotten every #. From", network + "Admission.swift", "forgivingInterval = ", per: .time),
        Limit(
            "not hold, # connections a second", network + "Admission.swift",
            "let known = Share(addressLimit: 128, count: ", per: .second),
        Limit("for a second, so # a second", network + "Admission.swift", "let known = Share(addressLimit: "),
        Limit("a second have it, else #: of", network + "Admission.swift", "unknown = Share(addressLimit: "),
        Limit("about #/n of the tries", network + "Admission.swift", "let known = Share(addressLimit: "),
        Limit("without a connection | #; then", hub + "HubService+Hello.swift", "awaySessionLimit = "),
        Limit("in a group that has #, counted when", hub + "HubService+Answering.swift", "postedNameLimit = "),
        Limit("until a hello or a `view` was accepted | # |", network + "ConnectionTimes.swift", "var hello = "),
        Limit("bytes sent before that | #; then", network + "RelayThread.swift", "strangerByteLimit = "),
        Limit("connection of the stream | #, and", network + "RelayThread.swift", "streamFirstByteCount = "),
        Limit("2 KiB, and # for each second", network + "RelayThread.swift", "streamByteRate = "),
        Limit("(`zmq.clientMemory`) | 54 MiB: # for requests", hub + "ClientMemory.swift", "requestByteCount = "),
        Limit("(`zmq.clientMemory`) | #: 18 MiB", hub + "ClientMemory.swift", "static let standard = "),
        Limit("answers and news. At least # |", hub + "ClientMemory.swift", "static let least = "),
        Limit("18 MiB for requests, # for subscriptions", hub + "ClientMemory.swift", "subscriptionByteCount = "),
        // Measured: the code has no more than the figure.
        Limit(
            "of which a byte takes # at most (measured)", hub + "ClientMemory.swift",
            "measured, a byte of a connection of the stream takes "),
        Limit("not done with | # on the wire", hub + "ClientMemory.swift", "requestByteCount = "),
        Limit("of the memory for a client, #; then", hub + "ClientMemory.swift", "standardPart = "),
        Limit("one of # for as many as", hub + "HubService+Updates.swift", "streamByteLimit = "),
        Limit("that it has lasted, # in all", network + "RelayThread.swift", "streamByteLimit = "),
        Limit(
            "subscriptions are short, # bytes at most", hub + "HubEndpointListener.swift",
            "stream.set(.messageByteLimit, "),
        Limit("size of the store (#)", "CoreAPI/Capabilities.swift", "storeByteCount: Int = "),
        Limit("something waits | #; then", network + "ConnectionTimes.swift", "var blocked = "),
        Limit("each send every #, in which", network + "ConnectionTimes.swift", "var heartbeat = "),
        Limit("nothing at all comes | #; then", network + "ConnectionTimes.swift", "var silence = "),
        Limit("confirms nothing for # (", network + "ConnectionTimes.swift", "var silence = "),
        Limit("(`ulimit -n`), # or a quarter", network + "RelayThread.swift", "spareDescriptorCount = "),
        Limit("quarter of the rest, # at most", network + "RelayThread.swift", "lobbyLimit = "),
        Limit("other connection takes #. While", network + "RelayThread.swift", "descriptorCount = "),
        Limit("One request has at most # guards", "StoreEngine/State/StoreState.swift", "stepLimit = "),
        Limit("and a store # entries", "CoreAPI/Capabilities.swift", "entryCount: Int = "),
        Limit("with the lease of #, ends", hub + "HubOptions.swift", "lease: Duration = "),
        Limit(
            "finishes its handshake is closed after #; it", hub + "HubEndpointListener.swift",
            "set(.handshakeInterval, "),
        Limit("is one frame of at most #; a larger", wire, "requestByteLimit = "),
        Limit("connection and # times in a second", hub + "RefusalReports.swift", "limitPerSecond = "),
        Limit("knows its token: # random bytes", wire, "tokenByteCount = "),
        Limit("the hub takes in # at most", hub + "Intake.swift", "byteLimit = "),
        Limit("an answer has at most #, one", wire, "answerByteLimit = "),
        Limit("one of the stream #, and", wire, "updatesFrameByteLimit = "),
        Limit("over another one, # later", "Backends/ZMQ/Client/HubLink+Connecting.swift", "lossTimeout = "),
        Limit("more than # come in between", "Platform/Processes/SessionSocket.swift", "queueLength = "),
        Limit("parts are looked at | #; of", mail + "MailLimits.swift", "messageByteCount = "),
        Limit("in memory | # of its lines", mail + "MailLines.swift", "allocate(byteCount: "),
        Limit("fields of its headers of # each", mail + "MailLimits.swift", "fieldByteCount = "),
        Limit("a value of the group (#)", mail + "MailLimits.swift", "textByteCount = "),
        Limit("an identifier | # bytes", mail + "MailLimits.swift", "identifierByteCount = "),
        Limit("levels of parts | # |", mail + "MailLimits.swift", "nesting = "),
        Limit("before the shown one | # |", mail + "MailLimits.swift", "partCount = "),
        Limit("colons in From or To | # |", mail + "MailHead.swift", "groupCount = "),
        Limit("while they read it | #, then", "Cores/Maildir/MailAttempts.swift", "limit = "),
        Limit("at a time | #, and one", "Host/Push/PushMaildir.swift", "noteLimit = "),
        Limit("1,000, and one for each # of", "Host/Push/PushMaildir.swift", "memoryOfNote = "),
        Limit("`push.capacity`, and one for each # of", "Host/Push/PushQueue.swift", "memoryOfPush: UInt64 = "),
        Limit("a call-id | # bytes of UTF-8", "ExecutorRun/PushLine.swift", "maximumByteCount = "),
        Limit("a type | # bytes", "Coordination/Push/Push.swift", "maximumTypeByteCount = "),
        Limit("an account | # bytes of UTF-8", "Coordination/Push/Push.swift", "maximumAccountByteCount = "),
        Limit("a payload | # of any", "Coordination/Push/Push.swift", "maximumPayloadByteCount = "),
        Limit("a line of the socket | # |", "ExecutorRun/PushLine.swift", "byteCount = "),
        Limit("acknowledged call-ids, # at a time", "Host/Push/PushMaildir.swift", "forgottenAtOnce = "),
        Limit("at once | #, the first", "Cores/Maildir/MailSource.swift", "listLimit = "),
        Limit("UTF-8 that are converted | #; the", mail + "EncodedWords.swift", "convertedCount = "),
        Limit("`-_.:+`, at most #, those", mail + "MailText.swift", "(1..."),
        Limit("one line of at most #;", "ProgramOutput/ProgramText.swift", "maximumLineByteCount = "),
        Limit("# connections are held at most", "Host/Serve/RequestServer.swift", "peerCount: Int = "),
        Limit("shut it out: within # of the change", "Host/Hub/ClientListWatch.swift", "unwatchedPause = "),
        Limit("into a container, it takes # at most", "Host/Hub/ClientListWatch.swift", "longestPause = "),
        Limit("each for # until its request", "Host/Metrics/MetricsServer.swift", "timeout = "),
        compactionWait,
        frozenCompactors,
        Limit(contract: "at once, then after #, doubling", "Replica/ExpiryTimer.swift", "following = "),
        Limit(contract: "50 ms, doubling to #. When", "Replica/ExpiryTimer.swift", "longest = "),
        Limit(contract: "twice the content and longer than #; -", compaction, "longestByteCount = "),
        Limit(contract: "where it gives back # and", compaction, "regainedByteCount = "),
        Limit(contract: "is seen to run, # at most", local + "LocalGroup+Queue.swift", "limit = "),
        Limit(contract: "and content type have at most # bytes, the", message, "maximumLineByteCount = "),
        Limit(contract: "bytes, the conversation #, none", message, "maximumConversationByteCount = "),
        Limit(contract: "at most # fields with values", message, "maximumFieldCount = "),
        Limit(contract: "values of at most # bytes: else", message, "maximumFieldByteCount = "),
        Limit("puts take at most # times as long", "Scripts/bench-report", flood),
        Limit("`make bench-brief`, is # times", "Scripts/bench-report", flood + "3.0, "),
    ]

    private static let message = "Coordination/Inbox/InboxMessage.swift"
    private static let flood = "\"flood.put\", \"with the flood at another hub\", "

    @Test("A number of the page is that of the code", arguments: limits)
    func limit(_ limit: Limit) throws {
        let interval = try Self.number(behind: "lookInterval = ", in: Self.network + "RelayThread.swift")
        let factor =
            switch limit.scale {
            case .none: 1.0
            case .second: 1_000 / interval
            case .time: interval
            }
        let number = try Self.number(behind: limit.code, in: limit.file) * factor
        #expect(try limit.told() == number, "\(limit.file): \(limit.code)")
    }

    @Test("S15: processes that stand still in a compaction delay a commit by the sum of the waits for each")
    func sumOfWaits() throws {
        let sum = Limit(contract: "so the delay is # at most", Self.compaction, "")
        #expect(try sum.told() == Self.frozenCompactors.told() * Self.compactionWait.told())
    }

    @Test("The nonce of a connection has as many bytes as the page says")
    func nonce() throws {
        let source = try Repository.text("Sources/" + Self.wire)
        let nonce = #/struct ConnectionNonce[^{]*\{(?<words>(?:\s*let \w+: UInt64)+)/#
        let words = try #require(source.firstMatch(of: nonce)).words
        let count = words.ranges(of: "UInt64").count * MemoryLayout<UInt64>.size
        #expect(try Limit("it carries the # random bytes", Self.wire, "").told() == Double(count))
    }

    @Test("Each secret key, that of etcd.tls.key too, is read from a file whose mode gives others nothing")
    func secretKeys() throws {
        var readers: [String] = []
        for file in try Repository.files(below: "Sources", ending: ".swift") {
            for reading in try Repository.text(file).matches(of: #/forbidding: (0o[0-7]+), "A secret key"/#) {
                #expect(reading.1 == "0o077", "\(file)")
                readers.append(file)
            }
        }
        #expect(readers == ["Sources/Backends/Etcd/EtcdCluster.swift", "Sources/Backends/ZMQ/Security/KeyFile.swift"])
        // The check comes before there is a connection that would show the key.
        let cluster = try Repository.text("Sources/Backends/Etcd/Client/Cluster.swift")
        #expect(cluster.contains("try place.security?.requireOwnKey()"))
    }

    @Test("Tokens and nonces are compared by isSame(as:) alone, which does not end at the first difference")
    func comparisons() throws {
        let other = #/\b(?:token|nonce)\b\s*(?:[=!]=|\.elementsEqual|\.starts)|[=!]=\s*[\w.]*\b(?:token|nonce)\b/#
            // By default the name behind a dot begins no word.
            .wordBoundaryKind(.simple)
        var count = 0
        for file in try Repository.files(below: "Sources/Backends/ZMQ", ending: ".swift") {
            let source = try Repository.text(file)
            count += source.ranges(of: #/(?:token|nonce)\.isSame\(as:/#).count
            #expect(source.firstMatch(of: other) == nil, "\(file)")
        }
        #expect(count >= 3)
    }

    /// A number with its unit, in bytes or milliseconds.
    private static func number(onPage text: Substring) -> Double? {
        let words = text.split(separator: " ")
        let scales: [Substring: Double] = ["KiB": 1_024, "MiB": 1_048_576, "GiB": 1_073_741_824, "ms": 1, "s": 1_000]
        let scale = words.count > 1 ? scales[words[1]] ?? 1 : 1
        let number = words[0] == "five" ? 5 : Double(words[0].replacing(",", with: ""))
        return number.map { $0 * scale }
    }

    /// The value of an expression of the code: a sum of products of numbers, shifted ones, durations and constants.
    private static func number(behind code: String, in file: String) throws -> Double {
        let source = try Repository.text(file.hasPrefix("Scripts/") ? file : "Sources/" + file)
        let places = source.ranges(of: code).filter { !(source[..<$0.lowerBound].last?.isLetter ?? false) }
        let start = try #require(places.first, "\(file) has no “\(code)”").upperBound
        let line = source[start...].prefix { $0 != "\n" }
        let number =
            #/(?:Duration)?\.(?<unit>seconds|milliseconds)\((?<time>[0-9_.]+)\)|\(?(?<left>[0-9_]+)(?: << (?<shift>[0-9]+))?\)?/#
        func value(of factor: String) throws -> Double {
            if let match = factor.prefixMatch(of: number) {
                if let time = match.time, let value = Double(time.filter { $0 != "_" }) {
                    return match.unit == "seconds" ? value * 1_000 : value
                }
                let value = try #require(match.left.flatMap { Int($0.filter { $0 != "_" }) })
                return Double(value << (match.shift.flatMap { Int($0) } ?? 0))
            }
            let name = factor.split(separator: ".")
            let places = ["Wire": wire, "RelayThread": network + "RelayThread.swift"]
            let place = name.count > 1 ? try #require(places[String(name[0])]) : file
            return try Self.number(behind: "static let \(name.last ?? "") = ", in: place)
        }
        var sum = 0.0
        for term in line.components(separatedBy: " + ") {
            sum += try term.components(separatedBy: " * ").reduce(1.0) { try $0 * value(of: $1) }
        }
        return sum
    }
}
