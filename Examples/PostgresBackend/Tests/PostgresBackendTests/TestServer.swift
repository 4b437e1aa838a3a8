import CoreAPI
import CoreAPITesting
import Foundation
import PostgresBackend

/// The server that `Scripts/try-postgres` has started, on a unix socket.
enum TestServer {
    /// The connection string. Without the script there is no server, and the tests fail.
    static let connection = ProcessInfo.processInfo.environment["SHAREDCORE_POSTGRES_CONNECTION"] ?? "host=/nonexistent"

    static func place(of group: String) throws(SharedCoreError) -> PostgresPlace {
        try PostgresPlace(server: connection, group: group)
    }

    /// Runs SQL as the owner of the tables, and returns what it prints.
    @discardableResult
    static func query(_ sql: String) throws -> String {
        let (status, output) = try BuiltProgram.run(
            "/usr/bin/psql", ["-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql, connection])
        guard status == 0 else { throw Failure(text: "psql ended with status \(status): \(sql)") }
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The server's first process and all others.
    static func processes() throws -> [Int32] {
        guard let directory = ProcessInfo.processInfo.environment["SHAREDCORE_TEST_POSTGRES_DATA"],
            let first = try text(of: directory + "/postmaster.pid").split(separator: "\n").first.flatMap({ Int32($0) })
        else { throw Failure(text: "SHAREDCORE_TEST_POSTGRES_DATA names no directory of a running server.") }
        let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
        let children = all.filter { pid in
            let record = try? text(of: "/proc/\(pid)/stat")
            return record?.split(separator: ")").last?.split(separator: " ").dropFirst().first == "\(first)"
        }
        return [first] + children
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    /// Sends a signal to all processes of the server.
    static func signal(_ number: Int32) throws {
        for pid in try processes() { kill(pid, number) }
    }

    /// Starts the server that was killed, and waits until it answers.
    static func start() throws {
        guard let program = ProcessInfo.processInfo.environment["SHAREDCORE_TEST_POSTGRES_START"] else {
            throw Failure(text: "SHAREDCORE_TEST_POSTGRES_START names no program.")
        }
        // Foundation waits until all processes with its descriptors have ended, and the server would inherit them.
        let closing =
            #"for n in $(ls /proc/self/fd); do [ "$n" -lt 3 ] || eval "exec $n>&-"; done; exec sh "$0" >/dev/null 2>&1"#
        let (status, _) = try BuiltProgram.run("/bin/bash", ["-c", closing, program])
        guard status == 0 else { throw Failure(text: "The server does not start.") }
    }

    /// Lays a connection that can be cut and delayed to the server's socket.
    ///
    /// - Returns: The connection, and the place of a group that is reached through it.
    static func faultyConnection(for group: String) throws(SharedCoreError) -> (FaultyConnection, PostgresPlace) {
        let name = "/.s.PGSQL.5432"
        let words = connection.split(separator: " ")
        let host = words.first { $0.hasPrefix("host=") }.map { String($0.dropFirst("host=".count)) } ?? ""
        let directory = host + "/\(UInt32.random(in: 0...UInt32.max))"
        guard mkdir(directory, 0o700) == 0 else {
            throw SharedCoreError(.system, "The directory of a socket cannot be made.", at: directory)
        }
        return (
            try FaultyConnection(at: directory + name, to: host + name),
            try PostgresPlace(server: connection + " host=\(directory)", group: group)
        )
    }

    /// Makes the server refuse each record with the code of a full disk.
    static func fill() throws {
        try query(
            """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
            CREATE TRIGGER full_disk BEFORE INSERT ON sharedcore.record EXECUTE FUNCTION full_disk();
            """)
    }

    /// Ends what ``fill()`` has begun.
    static func empty() throws {
        try query("DROP TRIGGER full_disk ON sharedcore.record; DROP FUNCTION full_disk")
    }

    /// Kills the server with all its processes, and starts it again.
    static func restart() async throws {
        try signal(SIGKILL)
        // A process that was killed keeps its number, the server's lock file and its memory until it is reaped.
        let isBack = try await until { (try? start()) != nil }
        guard isBack else { throw Failure(text: "The server does not start again.") }
    }

    struct Failure: Error { let text: String }
}

/// The programs that are built beside the tests.
enum BuiltProgram {
    static func path(of name: String) -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: name).path
    }

    /// Starts a program. Its output is read to its end in another thread.
    static func start(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> (process: Process, output: Output) {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        return (process, Output(pipe.fileHandleForReading))
    }

    static func run(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> (status: Int32, output: String) {
        let (process, output) = try start(path, arguments, environment: environment)
        process.waitUntilExit()
        return (process.terminationStatus, output.wait())
    }

    /// The text that a program has printed until now.
    final class Output: @unchecked Sendable {
        // All access is under the lock.
        private var bytes = Data()
        private let lock = NSCondition()
        private var isOver = false

        init(_ file: FileHandle) {
            Thread.detachNewThread { [self] in
                while true {
                    let more = file.availableData
                    lock.withLock {
                        bytes += more
                        isOver = more.isEmpty
                        lock.broadcast()
                    }
                    if more.isEmpty { return }
                }
            }
        }

        var text: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }

        /// Returns everything that was printed, at its end. A program that a server inherited the pipe from has no end.
        func wait() -> String {
            lock.withLock {
                let deadline = Date(timeIntervalSinceNow: 5)
                while !isOver, lock.wait(until: deadline) {}
            }
            return text
        }
    }
}

/// Asks until the answer is yes; false after a minute.
func until(_ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(60))
    while ContinuousClock.now < deadline {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(50))
    }
    return false
}
