internal import CoreAPITesting
internal import Glibc
internal import Logging
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

@Suite("The list of a hub's clients is followed")
struct ClientListWatchTests {
    @Test("The list of clients is not read while a program still writes it")
    func beingWritten() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "clients")
        let keys = try (0..<2).map { _ in try CurveKeyPair.generate().publicKey }
        let lines = keys.map { $0 + "\n" }
        try OpenFile(path: path, .create).write(Array(lines.joined().utf8), at: 0)
        let watch = try ClientListWatch(of: path, logger: Logger(label: "test"))
        let seen = Box<[Set<String>]>([])
        let following = Task { for await clients in watch.changes { seen.update { $0.append(Set(clients.keys)) } } }
        try await eventually("the list is read") { seen.value == [Set(keys)] }

        // Half of a list is a valid list with fewer keys.
        var writer: OpenFile? = try OpenFile(path: path, .write)
        try writer?.truncate(to: lines[1].utf8.count)
        try writer?.write(Array(lines[1].utf8), at: 0)
        // A write of a file beside the list causes the list to be read.
        try OpenFile(path: directory.path(of: "other"), .create).write([1], at: 0)
        await #expect(throws: ConditionNotMet.self, "the half is not followed") {
            try await eventually("another list is followed", timeout: .milliseconds(500)) { seen.value.count > 1 }
        }
        writer = nil
        try await eventually("the list is read when it is whole") { seen.value == [Set(keys), [keys[1]]] }
        watch.stop()
        await following.value
    }

    /// A clock under the test's control: a wait ends by an event, or when the test ends it.
    private struct HeldTime: Sendable {
        /// The times that were to be waited, in their order.
        let asked = Box<[Duration]>([])
        private let ending: EventCounter

        init() throws { ending = try EventCounter() }

        func wait(for descriptors: [Int32], atMost time: Duration) -> [Bool] {
            asked.update { $0.append(time) }
            let ready = Poll.wait(for: descriptors + [ending.descriptor], timeout: nil)
            if ready.last == true { ending.clear() }
            return ready.dropLast()
        }

        /// Lets the time of one wait pass.
        func pass() { ending.raise() }
    }

    /// Makes a list of one key that no process has open for writing. A child process that another test starts inherits
    /// the files that are open here, until its program begins.
    private func makeList(of key: String, at path: String) async throws {
        try OpenFile(path: path, .create).write(Array("\(key)\n".utf8), at: 0)
        try await eventually("the list is closed") { try !OpenFile(path: path, .read).hasWriters() }
    }

    @Test("E2: a list that takes its name is read at once, without any time that passes")
    func atOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "clients")
        let keys = try (0..<2).map { _ in try CurveKeyPair.generate().publicKey }
        try await makeList(of: keys[0], at: path)
        let time = try HeldTime()
        let watch = try ClientListWatch(
            of: path, logger: Logger(label: "test"), wait: { time.wait(for: $0, atMost: $1) })
        let seen = Box<[Set<String>]>([])
        let following = Task { for await clients in watch.changes { seen.update { $0.append(Set(clients.keys)) } } }
        try await eventually("the list is read") { seen.value == [[keys[0]]] && !time.asked.value.isEmpty }
        try await makeList(of: keys[1], at: directory.path(of: "clients.new"))
        #expect(rename(directory.path(of: "clients.new"), path) == 0)
        try await eventually("the list that has its name now is read") { seen.value == keys.map { [$0] } }
        #expect(time.asked.value.allSatisfy { $0 == .seconds(60) })
        watch.stop()
        await following.value
    }

    @Test("E2: a list behind a symbolic link is read again after 1 s")
    func behindLink() async throws {
        let directory = try TemporaryDirectory()
        let keys = try (0..<2).map { _ in try CurveKeyPair.generate().publicKey }
        for (number, key) in keys.enumerated() {
            let place = directory.path(of: "place-\(number)")
            #expect(mkdir(place, 0o700) == 0)
            try await makeList(of: key, at: place + "/clients")
        }
        #expect(symlink("place-0", directory.path(of: "link")) == 0)
        let time = try HeldTime()
        let watch = try ClientListWatch(
            of: directory.path(of: "link/clients"), logger: Logger(label: "test"),
            wait: { time.wait(for: $0, atMost: $1) })
        let seen = Box<[Set<String>]>([])
        let following = Task { for await clients in watch.changes { seen.update { $0.append(Set(clients.keys)) } } }
        try await eventually("the list is read") { seen.value == [[keys[0]]] && !time.asked.value.isEmpty }
        #expect(symlink("place-1", directory.path(of: "next")) == 0)
        #expect(rename(directory.path(of: "next"), directory.path(of: "link")) == 0)
        time.pass()
        try await eventually("the other list is read") { seen.value == keys.map { [$0] } }
        try await eventually("the next wait has begun") { time.asked.value.count == 2 }
        #expect(time.asked.value == [.seconds(1), .seconds(1)])
        watch.stop()
        await following.value
    }

    @Test("E2: a list still open for writing when its event comes is read 100 ms later, then less and less often")
    func stillOpen() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "clients")
        let keys = try (0..<2).map { _ in try CurveKeyPair.generate().publicKey }
        try await makeList(of: keys[0], at: path)
        let time = try HeldTime()
        let watch = try ClientListWatch(
            of: path, logger: Logger(label: "test"), wait: { time.wait(for: $0, atMost: $1) })
        let seen = Box<[Set<String>]>([])
        let following = Task { for await clients in watch.changes { seen.update { $0.append(Set(clients.keys)) } } }
        try await eventually("the list is read") { seen.value == [[keys[0]]] && !time.asked.value.isEmpty }

        var writer: OpenFile? = try OpenFile(path: path, .write)
        try writer?.write(Array("\(keys[1])\n".utf8), at: 0)
        // The event of another file serves as that of the list's own writer.
        try OpenFile(path: directory.path(of: "other"), .create).write([1], at: 0)
        try await eventually("it is looked at") { time.asked.value.count == 2 }
        for count in 3...7 {
            time.pass()
            try await eventually("the time has passed") { time.asked.value.count == count }
        }
        let doubled = [100, 200, 400, 800, 1_000, 1_000].map { Duration.milliseconds($0) }
        #expect(time.asked.value == [.seconds(60)] + doubled)
        try OpenFile(path: directory.path(of: "other"), .create).write([2], at: 0)
        try await eventually("it is looked at") { time.asked.value.count == 8 }
        #expect(time.asked.value.last == .milliseconds(100))
        writer = nil
        try await eventually("the list is read when it is closed") { seen.value == keys.map { [$0] } }
        try await eventually("the next wait has begun") { time.asked.value.last == .seconds(60) }
        watch.stop()
        await following.value
    }

    @Test("A list that stays open for writing is named in the log, once")
    func leftOpen() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "clients")
        let key = try CurveKeyPair.generate().publicKey
        var writer: OpenFile? = try OpenFile(path: path, .create)
        try writer?.write(Array("\(key)\n".utf8), at: 0)
        writer = nil
        let log = HeardLog()
        let watch = try ClientListWatch(of: path, logger: Logger(label: "test") { _ in log }, timeout: .zero)
        let seen = Box(0)
        let following = Task { for await _ in watch.changes { seen.update { $0 += 1 } } }
        try await eventually("the list is read") { seen.value == 1 }
        func told(_ text: String) -> Int { log.lines.count { $0.hasPrefix("error: ") && $0.contains(text) } }

        writer = try OpenFile(path: path, .write)
        try writer?.write(Array("no key at all\n".utf8), at: 0)
        for _ in 0..<3 {
            try OpenFile(path: directory.path(of: "other"), .create).write([1], at: 0)
            try await eventually("it is said") { told("is open for writing") == 1 && told(path) == 1 }
        }
        writer = nil
        try await eventually("what is wrong with it is said") { told(path) == 2 }
        #expect(told("is open for writing") == 1 && seen.value == 1, "\(log.lines)")
        watch.stop()
        await following.value
    }

    @Test(
        "E2: a list whose changes no event tells of is read in its time; one that is wrong changes nothing, and is named",
        arguments: ["link/clients", "link/deeper/clients"])
    func withoutEvents(path: String) async throws {
        let directory = try TemporaryDirectory()
        let keys = try (0..<2).map { _ in try CurveKeyPair.generate().publicKey }
        var count = 0
        /// Replaces a link by one to another directory, so that nothing happens in the directory that is watched.
        func turn(to text: String?, mode: mode_t = 0o644) throws {
            count += 1
            let place = directory.path(of: "place-\(count)")
            let list = place + path.dropFirst("link".count)
            #expect(mkdir(place, 0o700) == 0 && symlink(place, directory.path(of: "next")) == 0)
            if path.contains("deeper") { #expect(mkdir(place + "/deeper", 0o700) == 0) }
            if let text {
                try OpenFile(path: list, .create).write(Array(text.utf8), at: 0)
                #expect(chmod(list, mode) == 0)
            }
            #expect(rename(directory.path(of: "next"), directory.path(of: "link")) == 0)
        }
        try turn(to: keys[0] + "\n")
        let log = HeardLog()
        let watch = try ClientListWatch(
            of: directory.path(of: path), logger: Logger(label: "test") { _ in log })
        let seen = Box<[Set<String>]>([])
        let following = Task { for await clients in watch.changes { seen.update { $0.append(Set(clients.keys)) } } }
        try await eventually("the list is read") { seen.value == [[keys[0]]] }

        func told(_ text: String) -> Bool { log.lines.contains { $0.hasPrefix("error: ") && $0.contains(text) } }
        for (text, mode, problem) in [
            ("\n# \(keys[1])\n", 0o644, "The list contains no key."), (keys[1], 0o666, "the file's mode is 666"),
            (nil, 0o644, "There is no such file."),
        ] as [(String?, mode_t, String)] {
            try turn(to: text, mode: mode)
            try await eventually("that is named: \(problem)") { told(problem) }
        }
        #expect(seen.value == [[keys[0]]])
        // The log's last line on the list must be true: the same keys are reported again after an error.
        try turn(to: keys[0] + "\n")
        try await eventually("the mended list is named") {
            log.lines.contains {
                $0.hasPrefix("notice: ") && $0.contains("was read again") && $0.contains("lets 1 key in")
            }
        }
        #expect(seen.value == [[keys[0]]])
        try turn(to: keys.joined(separator: "\n") + "\n")
        try await eventually("the list of both is read") { seen.value == [[keys[0]], Set(keys)] }
        watch.stop()
        await following.value
    }
}
