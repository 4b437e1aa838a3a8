internal import CPostgres
internal import CoreAPI
internal import Dispatch
internal import Glibc

/// One connection to the server. Each call has a deadline and blocks until then at most, or while bytes move, so it runs on the queue of its log alone.
final class PostgresConnection {
    /// A parameter of a statement. It is sent beside the text of the statement, never in it.
    enum Value {
        case text(String)
        case bytes([UInt8])
        case list([[UInt8]])
    }

    /// How long nothing may be sent or received.
    private static let timeout = Duration.seconds(8)
    /// How long one answer may take, such as that with a large snapshot.
    private static let answerTimeout = Duration.seconds(120)
    /// The words of libpq for a server that cannot be reached. The rest of such a message may have a part of a password in it, where libpq
    /// took it for the host or the port.
    private static let phrases = [
        "Connection refused", "No such file or directory", "Permission denied", "could not translate host name",
        "No route to host", "Network is unreachable", "Connection reset by peer", "timeout expired",
        "server closed the connection unexpectedly", "certificate verify failed", "SSL", "invalid port number",
        "invalid integer value", "no password supplied",
    ]

    /// True after an error behind which the connection is of no use.
    private(set) var isLost = false
    private let pointer: OpaquePointer
    private let location: String
    /// The names of the statements that the server has prepared.
    private var statements: [String: String] = [:]
    private var input: (any DispatchSourceRead)?
    private var whenClosed: (@Sendable () -> Void)?

    /// - Throws: `unavailable` for a server that does not answer, `forbidden` where it refuses the user.
    init(to server: String, at location: String) throws(SharedCoreError) {
        self.location = location
        // The server's name is expanded as a connection string. The settings after it come before those in it.
        let settings = [
            ("dbname", server), ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"),
            ("fallback_application_name", "sharedcore"),
        ]
        let started = withPointers(to: settings.map { Array($0.0.utf8) }) { names in
            withPointers(to: settings.map { Array($0.1.utf8) }) { PQconnectStartParams(names + [nil], $0 + [nil], 1) }
        }
        guard let started else { throw SharedCoreError(.system, "libpq has no memory left.", at: location) }
        pointer = started
        do throws(SharedCoreError) { try connect() } catch {
            PQfinish(pointer)
            throw error
        }
    }

    private func connect() throws(SharedCoreError) {
        // The text of an error has its code then. Notices would go to the standard error.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        let deadline = ContinuousClock.now + Self.timeout
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard state != PGRES_POLLING_FAILED, PQstatus(pointer) != CONNECTION_BAD, isReady(for: events, by: deadline)
            else {
                // Class 28 is “invalid authorization specification”.
                let isRefused = PQconnectionNeedsPassword(pointer) == 1 || message.contains(":  28")
                throw SharedCoreError(
                    isRefused ? .forbidden : .unavailable, "The server cannot be reached.", at: location, cause: message
                )
            }
            state = PQconnectPoll(pointer)
        }
        PQsetnonblocking(pointer, 1)
    }

    /// The server's message with its code, or what is known of another error.
    private var message: String {
        let text = String(cString: PQerrorMessage(pointer))
        let answers = text.split(separator: "\n").filter { $0.contains(#/:  [0-9A-Z]{5}: /#) }.map(String.init)
        return (answers.isEmpty ? Self.phrases.filter { text.contains($0) } : answers).joined(separator: "; ")
    }

    /// Runs a statement, which is prepared at its first use.
    ///
    /// - Parameter code: The code where the statement was sent and the connection was lost, or the deadline has passed.
    func run(
        _ statement: String, _ values: [Value] = [], whenLost code: SharedCoreError.Code = .unavailable
    ) throws(SharedCoreError) -> [PostgresRow] {
        let name = statements[statement] ?? "s\(statements.count)"
        if statements[statement] == nil {
            _ = try answer(to: PQsendPrepare(pointer, name, statement, 0, nil))
            statements[statement] = name
        }
        let isSent = withPointers(to: values.map(\.content)) {
            PQsendQueryPrepared(
                pointer, name, Int32(values.count), $0, values.map { Int32($0.content.count) }, values.map(\.format), 1)
        }
        return try answer(to: isSent, whenLost: code)
    }

    /// Runs statements without parameters, in one transaction.
    func run(script: String) throws(SharedCoreError) { _ = try answer(to: PQsendQuery(pointer, script)) }

    private func answer(
        to isSent: Int32, whenLost code: SharedCoreError.Code = .unavailable
    ) throws(SharedCoreError) -> [PostgresRow] {
        let end = ContinuousClock.now + Self.answerTimeout
        var deadline = ContinuousClock.now + Self.timeout
        var rows: [PostgresRow] = []
        var failure: SharedCoreError?
        var isUsable = isSent == 1
        while isUsable {
            let rest = PQflush(pointer)
            if rest == 0, PQisBusy(pointer) == 0 {
                guard let result = PQgetResult(pointer) else { break }
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_TUPLES_OK: rows = PostgresRow.all(of: result)
                case PGRES_COMMAND_OK: break
                default: failure = SharedCoreError(result, at: location)
                }
            } else {
                isUsable =
                    rest >= 0 && isReady(for: rest > 0 ? POLLIN | POLLOUT : POLLIN, by: deadline)
                    && PQconsumeInput(pointer) == 1
                deadline = min(ContinuousClock.now + Self.timeout, end)
            }
        }
        guard isUsable, PQstatus(pointer) != CONNECTION_BAD else {
            isLost = true
            throw SharedCoreError(
                isSent == 1 ? code : .unavailable, "The connection was lost, or the server did not answer in time.",
                at: location, cause: failure?.cause ?? message)
        }
        if let failure { throw failure }
        return rows
    }

    private func isReady(for events: Int32, by deadline: ContinuousClock.Instant) -> Bool {
        var entry = pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
        while true {
            let rest = (ContinuousClock.now.duration(to: deadline) / .milliseconds(1)).rounded(.up)
            let count = poll(&entry, 1, Int32(max(0, rest)))
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    /// Takes the notifications that have arrived: a position, and the record there unless it is too long. Does not wait.
    func takeNotifications() -> [(position: UInt64, record: [UInt8]?)] {
        if PQconsumeInput(pointer) == 0 { isLost = true }
        var notifications: [(UInt64, [UInt8]?)] = []
        while let notification = PQnotifies(pointer) {
            let words = String(cString: notification.pointee.extra).split(separator: " ")
            PQfreemem(notification)
            guard let position = words.first.flatMap({ UInt64($0) }) else { continue }
            notifications.append((position, words.count > 1 ? Self.bytes(ofHexadecimal: words[1]) : nil))
        }
        return notifications
    }

    private static func bytes(ofHexadecimal text: Substring) -> [UInt8]? {
        var count = 0
        guard let bytes = PQunescapeBytea(String(text), &count) else { return nil }
        defer { PQfreemem(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Calls a handler on the log's queue when there is something to take.
    func observeInput(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) {
        let input = DispatchSource.makeReadSource(fileDescriptor: PQsocket(pointer), queue: queue)
        input.setEventHandler(handler: handler)
        // The descriptor must stay open until the system waits for it no more.
        input.setCancelHandler { self.finish() }
        input.activate()
        self.input = input
    }

    /// Closes the connection; the server releases its locks.
    func close(_ done: (@Sendable () -> Void)? = nil) {
        whenClosed = done
        if let input { input.cancel() } else { finish() }
    }

    private func finish() {
        PQfinish(pointer)
        whenClosed?()
    }
}

/// A row of a result, in the binary format of the server.
struct PostgresRow {
    private let fields: [[UInt8]?]

    static func all(of result: OpaquePointer) -> [PostgresRow] {
        (0..<PQntuples(result)).map { row in
            PostgresRow(
                fields: (0..<PQnfields(result)).map { column in
                    guard PQgetisnull(result, row, column) == 0 else { return nil }
                    let start = UnsafeRawPointer(PQgetvalue(result, row, column))
                    return Array(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
                })
        }
    }

    func bytes(_ column: Int) -> [UInt8] { fields[column] ?? [] }

    /// A number of any size, or a Boolean.
    func integer(_ column: Int) -> UInt64? { fields[column].map { $0.reduce(0) { $0 << 8 | UInt64($1) } } }
}

extension PostgresConnection.Value {
    /// 0 for text, 1 for the binary format.
    fileprivate var format: Int32 { if case .text = self { 0 } else { 1 } }

    fileprivate var content: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .list(let list):
            // An array: its dimensions, no nulls, the type bytea, the count, the first index; then each length with its bytes.
            [list.isEmpty ? 0 : 1, 0, 17].flatMap(Self.word)
                + (list.isEmpty ? [] : [list.count, 1].flatMap(Self.word))
                + list.flatMap { Self.word($0.count) + $0 }
        }
    }

    private static func word(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: Int32(number).bigEndian) { Array($0) }
    }
}

/// Lends pointers to texts and bytes, each with a zero behind it.
private func withPointers<Result>(to values: [[UInt8]], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    let all = Array(values.joined(separator: [0])) + [0]
    return all.withUnsafeBytes { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        var offset = 0
        return body(
            values.map { value in
                defer { offset += value.count + 1 }
                return start.map { $0 + offset }
            })
    }
}
