internal import Glibc

/// Another way in which processes agree on the owner of the core, as users of the field know it. Its calls block.
protocol PeerDesign: AnyObject, Sendable {
    /// Waits until this process may run the core. It lets go when it is asked to, as far as the design can ask.
    func own(asMain: Bool)

    /// Lets go.
    func release()

    /// Gets a message as a process that a push woke does, and runs the core if no other process does.
    func message(_ callID: String, by core: PeerCore)
}

/// The machine's clock, in nanoseconds since it started.
enum Moment {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    static func sleep(milliseconds: UInt64) {
        usleep(UInt32(milliseconds) * 1000)
    }
}

/// The core that the peers share. It takes a while to start, and fetches all messages from a server into an inbox.
///
/// Server and inbox are directories. Every process takes its own messages from the inbox.
struct PeerCore: Sendable {
    let server: String
    let inbox: String
    let startMilliseconds: UInt32

    init(server: String, inbox: String, startMilliseconds: UInt32) {
        self.server = server
        self.inbox = inbox
        self.startMilliseconds = startMilliseconds
    }

    func hasMessage(_ callID: String) -> Bool {
        access(inbox + "/" + callID, F_OK) == 0
    }

    /// One run from its start to its stop.
    func run() {
        usleep(startMilliseconds * 1000)
        guard let directory = opendir(server) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { copy(name) }
        }
    }

    /// Complete when it has its name.
    private func copy(_ name: String) {
        let source = open(server + "/" + name, O_RDONLY | O_CLOEXEC)
        let temporary = inbox + "/.\(getpid())-" + name
        let target = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            close(source)
            close(target)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0, write(target, buffer, count) == count else { break }
        }
        rename(temporary, inbox + "/" + name)
    }
}

/// A small dictionary of numbers in a file that processes share, changed under a lock.
///
/// The peers use it in place of UserDefaults or of a table of SQLite. It is faster than both.
struct SharedDictionary: Sendable {
    let path: String

    /// Reads it, changes it, and writes it back, while no other process does.
    func update<Value>(_ change: (inout [String: UInt64]) -> Value) -> Value {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        precondition(file >= 0, "\(path) cannot be opened: error \(errno)")
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {}
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = max(0, pread(file, &buffer, buffer.count, 0))
        var values: [String: UInt64] = [:]
        for line in String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2 { values[String(parts[0])] = UInt64(parts[1]) }
        }
        let before = values
        let result = change(&values)
        if values != before {
            let text = Array(values.map { "\($0.key)=\($0.value)\n" }.joined().utf8)
            precondition(pwrite(file, text, text.count, 0) == text.count && ftruncate(file, text.count) == 0)
        }
        return result
    }
}
