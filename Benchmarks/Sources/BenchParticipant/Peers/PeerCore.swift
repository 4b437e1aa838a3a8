internal import Glibc

/// The core that the peers share: it takes a while to start, and fetches all messages of a server, a directory, into an
/// inbox, another one, from which every process takes its own.
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
