import Coordination
import CoreAPI
import CoreAPITesting
import FileNotifyBackend
import Glibc
import Platform
import TestSupport
import Testing

/// A call that moves between processes, one of which dies or freezes after each step (contract C25).
@Suite("Baton: processes", .serialized)
struct BatonProcessTests {
    /// A place behind a step of the hand-over, and the process that passes it.
    struct Place: Sendable, CustomTestStringConvertible {
        let step: Int
        let name: String
        let isOfMain: Bool

        var testDescription: String { "step \(step), \(name)" }

        static let all = [
            Place(step: 1, name: "handover.asked", isOfMain: true),
            Place(step: 2, name: "baton.given", isOfMain: false),
            Place(step: 3, name: "baton.kept", isOfMain: false),
            Place(step: 4, name: "baton.offered", isOfMain: false),
            Place(step: 5, name: "baton.taken", isOfMain: true),
            Place(step: 6, name: "baton.prepared", isOfMain: true),
            Place(step: 7, name: "baton.applied", isOfMain: true),
        ]

        /// True if the Executor continues the call when the process dies at this step.
        var isKept: Bool { [1, 5, 6].contains(step) }
        /// The place at which Main is stopped until the Executor has failed. Without the stop, Main would get the
        /// offered baton before that.
        var stopOfMain: String? { step == 4 ? "baton.taken:stop" : nil }
    }

    let directory: TemporaryDirectory
    let line: DatagramLine

    init() throws {
        directory = try TemporaryDirectory()
        _ = try Directory.create(path: directory.path(of: "run"), permissions: 0o700)
        line = try DatagramLine()
    }

    var group: String { directory.path(of: "group") }

    func start(
        _ role: String, _ name: String, timeout: Int = 60_000, answerBound: Int = 500, at place: String? = nil
    ) throws -> ChildProcess {
        try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"),
            ["call", group, role, name, "\(line.port)", "\(timeout)", "\(answerBound)"],
            environment: ["XDG_RUNTIME_DIR": directory.path(of: "run"), "SHAREDCORE_FAIL_POINT": place],
            input: true)
    }

    func observer() async throws -> FileGroup {
        try await FileGroup.open(directory: group, as: SessionDescription(role: .tool, name: "observer"))
    }

    func until(_ line: String, of child: ChildProcess) async throws {
        try await eventually("“\(line)” among \(child.lines)") { child.lines.contains(line) }
    }

    /// The texts in the order in which they were sent, without repetitions that follow each other.
    func order(of texts: [String]) -> [String] {
        var order: [String] = []
        for text in texts where order.last != text { order.append(text) }
        return order
    }

    func descriptors(of child: ChildProcess) -> [String] {
        let path = "/proc/\(child.pid)/fd"
        return ((try? Directory(path: path).names()) ?? []).compactMap { name in
            var target = [CChar](repeating: 0, count: 256)
            let count = readlink("\(path)/\(name)", &target, 255)
            return count > 0 ? String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
        }
    }

    func descriptorsOfCall(of child: ChildProcess, _ socket: String) -> [String] {
        descriptors(of: child).filter { $0.contains("memfd:baton") || $0 == "socket:[\(socket)]" }
    }

    func calls() async throws -> [Call] {
        let store = try await observer()
        let calls = try await Calls(store).list()
        await store.close()
        return calls
    }

    func told() async throws -> [TimelineEntry] {
        let store = try await observer()
        let history = try await Timeline(store).history()
        let report = TimelineChecker.check(history)
        #expect(report.violations.isEmpty, "\(report.violations)")
        await store.close()
        return history.records.map(\.entry)
    }

    func busyExecutor(
        timeout: Int = 60_000, answerBound: Int = 500, at place: String? = nil
    ) async throws -> (ChildProcess, String) {
        let executor = try start("executor", "A", timeout: timeout, answerBound: answerBound, at: place)
        try await until("runs", of: executor)
        let began = try #require(executor.lines.first { $0.hasPrefix("began ") })
        return (executor, String(began.dropFirst("began ".count)))
    }

    /// Lets a process go on that has stopped at a place.
    func goOn(_ child: ChildProcess) async throws {
        try await eventually("it is stopped: \(child.lines)") { child.isStopped }
        child.signal(.continue)
    }

    /// Searches everything that the processes have left for the bytes of the baton.
    func expectNoSecrets() throws {
        #expect(try FilesWithText.find("do-not-store-this-key", below: directory.path) == [])
    }

    @Test("C25: the call moves, counts once, and leaves nothing behind")
    func moves() async throws {
        let (executor, socket) = try await busyExecutor()
        let main = try start("main", "B")
        try await until("goes on", of: main)
        try await until("hears applied", of: executor)
        #expect(descriptorsOfCall(of: executor, socket).isEmpty)
        #expect(descriptorsOfCall(of: main, socket) == ["socket:[\(socket)]"])
        var texts = line.received()
        try await eventually("Main sends") {
            texts += line.received()
            return texts.contains("B")
        }
        try expectNoSecrets()
        try main.send("close")
        try await until("closed", of: main)
        texts += line.received()
        #expect(order(of: texts) == ["A", "B", "BYE"])
        #expect(try await calls().count == 1)
        #expect(try await told().map(\.kind).filter { $0 == .batonApplied }.count == 1)
        try executor.send("close")
        #expect(await executor.end() == .exited(0))
        #expect(await main.end() == .exited(0))
        #expect(try Directory(path: directory.path(of: "run/sharedcore/batons")).names().isEmpty)
    }

    @Test(
        "C25: a process dies behind a step: at most one has the call, it ends at most once, no descriptor is left",
        arguments: Place.all)
    func dies(at place: Place) async throws {
        let (executor, socket) = try await busyExecutor(at: place.isOfMain ? nil : "\(place.name):kill")
        let main = try start("main", "B", at: place.isOfMain ? "\(place.name):kill" : place.stopOfMain)
        let victim = place.isOfMain ? main : executor
        #expect(await victim.end() == .killed(by: SIGKILL))
        if place.stopOfMain != nil { try await goOn(main) }
        var texts = line.received()
        if place.isKept {
            // The Executor may have begun to stop, or may not have heard of the request.
            try await eventually("the Executor has the call: \(executor.lines)") {
                texts = line.received()
                return texts.contains("A") && !texts.contains("BYE")
            }
            try await eventually("it is open") { try await calls().map(\.state) == [.answered] }
            #expect(descriptorsOfCall(of: executor, socket) == ["socket:[\(socket)]"])
        } else {
            if !place.isOfMain { try await until("runs", of: main) }
            try await eventually("it is over") { try await calls().map(\.state) == [.ended(.lost)] }
            if place.isOfMain { try await until("hears applied", of: executor) }
        }
        let survivor = place.isOfMain ? executor : main
        try await eventually("nothing is left: \(descriptors(of: survivor))") {
            descriptorsOfCall(of: survivor, socket).count == (place.isKept ? 1 : 0)
        }
        #expect(try await told().filter { $0.kind == .batonApplied }.count <= 1)
        #expect(try await calls().count == 1)
        try expectNoSecrets()
        try survivor.send("close")
        #expect(await survivor.end() == .exited(0))
        texts += line.received()
        // No dead process sends, and only the process that has the call says BYE, once.
        #expect(texts.filter { $0 == "BYE" }.count == (place.isKept ? 1 : 0))
    }

    @Test("C25: a process freezes behind a step, and thaws when the others have gone on", arguments: Place.all)
    func freezes(at place: Place) async throws {
        // A frozen owner is killed at the deadline. One that runs has more time than the test takes.
        let brief = [2, 3].contains(place.step)
        let (executor, socket) = try await busyExecutor(at: place.isOfMain ? nil : "\(place.name):stop")
        let main = try start(
            "main", "B", timeout: brief ? 500 : 60_000, at: place.isOfMain ? "\(place.name):stop" : place.stopOfMain)
        let victim = place.isOfMain ? main : executor
        var texts: [String] = []
        if brief {
            #expect(await executor.end() == .killed(by: SIGKILL))
            try await until("runs", of: main)
            try await eventually("it is over") { try await calls().map(\.state) == [.ended(.lost)] }
        } else {
            try await eventually("it is frozen") { victim.isStopped }
            switch place.step {
            case 1, 5, 6:
                // The Executor owns again, or has not released its ownership.
                texts = line.received()
                try await eventually("the Executor has the call: \(executor.lines)") {
                    let present = line.received()
                    texts += present
                    let holders = try await calls().map(\.holder?.name)
                    return present.contains("A") && holders == ["A"]
                }
                victim.signal(.continue)
                try await until("goes on", of: main)
                try await until("hears applied", of: executor)
            case 4:
                try await goOn(main)
                try await until("runs", of: main)
                try await eventually("it is over: \(main.lines) \(executor.lines)") {
                    try await calls().map(\.state) == [.ended(.lost)]
                }
                victim.signal(.continue)
                try await until("hears failed", of: executor)
            default:
                try await until("hears applied", of: executor)
                #expect(descriptorsOfCall(of: executor, socket).isEmpty)
                victim.signal(.continue)
                try await until("goes on", of: main)
            }
        }
        let survivors = brief ? [main] : [main, executor]
        let isOpen = ![2, 3, 4].contains(place.step)
        try await eventually("nothing is left: \(survivors.map { descriptors(of: $0) })") {
            survivors.flatMap { descriptorsOfCall(of: $0, socket) }.count == (isOpen ? 1 : 0)
        }
        if isOpen {
            try await eventually("Main sends") {
                texts += line.received()
                return texts.last == "B"
            }
        }
        #expect(try await calls().count == 1)
        try expectNoSecrets()
        for child in survivors {
            try child.send("close")
            #expect(await child.end() == .exited(0))
        }
        texts += line.received()
        #expect(texts.filter { $0 == "BYE" }.count == (brief ? 0 : 1), "\(order(of: texts))")
        if isOpen { #expect(order(of: texts) == ["A", "B", "BYE"], "\(order(of: texts))") }
    }

    @Test("C25: Main dies when it has the call: it is lost, once, and the Executor has nothing of it")
    func diesBehindTheLast() async throws {
        let (executor, socket) = try await busyExecutor()
        let main = try start("main", "B")
        try await until("goes on", of: main)
        await main.killNow()
        try await until("hears applied", of: executor)
        try await eventually("it is over") { try await calls().map(\.state) == [.ended(.lost)] }
        #expect(descriptorsOfCall(of: executor, socket).isEmpty)
        try executor.send("close")
        #expect(await executor.end() == .exited(0))
        #expect(!line.received().contains("BYE"))
    }

    @Test("C25: what a process of another user keeps is not taken, and the call ends")
    func foreignUser() async throws {
        guard OwnProcess.user == 0 else { return }
        let run = directory.path(of: "foreign")
        // A directory of another user is not used: the baton is refused, with that reason.
        _ = try Directory.create(path: run, permissions: 0o777)
        chmod(run, 0o777)
        _ = try Directory.create(path: run + "/sharedcore", permissions: 0o700)
        chown(run + "/sharedcore", 65534, 65534)
        let executor = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"),
            ["call", group, "executor", "A", "\(line.port)", "60000", "500"],
            environment: ["XDG_RUNTIME_DIR": run], input: true)
        try await until("runs", of: executor)
        let main = try start("main", "B")
        try await until("hears refused", of: executor)
        try await until("runs", of: main)
        #expect(try await calls().map(\.state) == [.ended(.lost)])
        #expect(try await told().contains { $0.kind == .problem && $0.reason.contains("cannot be kept") })
        for child in [executor, main] {
            try child.send("close")
            #expect(await child.end() == .exited(0))
        }
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: a process of another user gets no baton, and takes none", .enabled(if: OwnProcess.user == 0))
    func foreignProcess() async throws {
        // Main is frozen for as long as the other user asks: the Executor must not take the call back.
        let (executor, _) = try await busyExecutor(answerBound: 120_000)
        let main = try start("main", "B", at: "baton.taken:stop")
        try await eventually("Main is frozen") { main.isStopped }
        let store = try await observer()
        var record = BatonRecord(bytes: try #require(try await store.get(OwnershipKey.baton)).value)
        await store.close()
        // The directories keep other users out; the processes ask the kernel all the same.
        for path in ["", "run", "run/sharedcore", "run/sharedcore/batons"] { chmod(directory.path(of: path), 0o711) }
        chmod(record.keepers[0], 0o777)
        #expect(try await askedByForeigner(record).first == "closed")

        // A keeper that gives its baton to each process that asks.
        let path = directory.path(of: "open")
        let listener = try MessageSocket(listeningAt: path)
        chmod(path, 0o777)
        let sealed = try OpenFile.sealed(Array("do-not-store-this-key".utf8), as: "baton")
        let reply = Array("sharedcore-baton 1 \(record.epoch)".utf8)
        record.keepers = [path]
        record.descriptorCount = 0
        let giving = Task {
            var connections: [MessageSocket] = []
            while !Task.isCancelled {
                if let connection = try listener.accept() {
                    try connection.send(reply, with: [sealed])
                    connections.append(connection)
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let outcomes = try await askedByForeigner(record)
        giving.cancel()
        #expect(outcomes.first == "answered with 1 files")
        #expect(outcomes.last?.contains("process keeps it") == true, "\(outcomes)")

        main.signal(.continue)
        try await until("goes on", of: main)
        try await until("hears applied", of: executor)
        for child in [executor, main] {
            try child.send("close")
            #expect(await child.end() == .exited(0))
        }
    }

    func askedByForeigner(_ record: BatonRecord) async throws -> [String] {
        let text = record.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let foreigner = try ChildProcess(try ChildProcess.built("sharedcore-test-peer"), ["foreign", text])
        _ = await foreigner.end()
        return foreigner.lines
    }
}
