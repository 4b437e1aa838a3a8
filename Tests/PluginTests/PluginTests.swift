internal import BundledHarnesses
import CoreAPI
internal import CoreAPITesting
internal import CoreAPITestingAdapters
internal import Foundation
internal import LogBackend
internal import Platform
import TestSupport
import Testing

@testable import PluginBackend

@Suite("Backends as plugins")
struct PluginTests {
    /// The plugins, compiled once for all tests of a process.
    static let build = Task { try await PluginBuild() }

    // MARK: - Loading

    @Test("A plugin says its name, its version, its settings and its promises")
    func describesItself() async throws {
        let build = try await Self.build.value
        let plugin = try #require(try BackendPlugin.load("faulty", from: build.path))
        #expect(plugin.name == "faulty" && plugin.version == "0" && plugin.durability == .memory)
        #expect(plugin.settings.map(\.key) == ["faulty.fault", "faulty.password"])
        #expect(plugin.settings.map(\.isSecret) == [false, true])
        #expect(try BackendPlugin.names(in: build.path).contains("faulty"))
    }

    @Test(
        "A name without a file is no plugin, and no path leaves the directory",
        arguments: ["absent", "", "..", "../faulty", "Faulty", "a/b", "-a", String(repeating: "a", count: 33)])
    func absent(name: String) async throws {
        #expect(try BackendPlugin.load(name, from: try await Self.build.value.path) == nil)
    }

    @Test(
        "A table that is wrong is refused, with the reason",
        arguments: [
            ("abi", SharedCoreError.Code.incompatible, "version 3"), ("notable", .incompatible, "no table"),
            ("othername", .unsupported, "its name is “another”"), ("missing", .unsupported, "a function is missing"),
            ("small", .unsupported, "its size is 8"), ("count", .unsupported, "more than 64"),
            ("key", .unsupported, "setting 0"),
            ("default", .unsupported, "setting 1 is secret and has a default"),
            ("text", .unsupported, "is no shared library"),
            ("nosymbol", .unsupported, "libsharedcore-nosymbol.so” has no function “sharedcore_backend”"),
        ])
    func wrongTable(name: String, code: SharedCoreError.Code, reason: String) async throws {
        let build = try await Self.build.value
        let error = #expect(throws: SharedCoreError.self) { try BackendPlugin.load(name, from: build.path) }
        #expect(error?.code == code && error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.location == "\(build.path)/libsharedcore-\(name).so")
    }

    @Test("A file that is cut off within a segment is refused before it is mapped, at each length")
    func cutOff() async throws {
        let build = try await Self.build.value
        let bytes = try build.bytes
        let segments = try #require(Self.loadedByteCount(of: bytes))
        for count in [0, 1, 3, 16, 63, 64, 100, 120, segments / 4, segments / 2, segments - 4097, segments - 1] {
            let error = try error(of: Array(bytes.prefix(count)))
            #expect(error?.code == .unsupported && error?.message.contains("its file is ") == true, "\(count)")
        }
        // The table of sections, which follows the segments, is not needed.
        _ = try PluginBuild(with: Array(bytes.prefix(segments))).load()
    }

    @Test(
        "A file that is no shared library of this machine is refused, with the reason",
        arguments: [
            ([4: 1], "not one of 64 bits"), ([5: 2], "another order of bytes"), ([16: 2], "no shared library"),
            ([18: 3, 19: 0], "for another machine"), ([0: 0], "no shared library (ELF)"),
            ([54: 32], "no table of segments"), ([56: 0, 57: 0], "no table of segments"),
            ([57: 255], "segments, more than 512"),
            ([39: 255], "cut off"), ([39: 127], "cut off"),
        ] as [([Int: UInt8], String)])
    func foreignFile(changes: [Int: UInt8], reason: String) async throws {
        var bytes = try await Self.build.value.bytes
        for (place, byte) in changes { bytes[place] = byte }
        let error = try error(of: bytes)
        #expect(error?.code == .unsupported && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("A segment whose offset or size is too large is refused", arguments: [8, 32], [3..<4, 7..<8, 0..<8])
    func largeSegment(field: Int, places: Range<Int>) async throws {
        var bytes = try await Self.build.value.bytes
        let segment = try #require(Self.loadedSegments(of: bytes).last)
        for place in places { bytes[segment + field + place] = 255 }
        let error = try error(of: bytes)
        #expect(error?.code == .unsupported && error?.message.contains("cut off") == true, "\(error?.message ?? "")")
    }

    @Test("A directory with the name of a plugin is refused")
    func directoryAsFile() throws {
        #expect(try error(of: nil)?.code == .forbidden)
    }

    /// Returns the error of loading a file with these bytes, or a directory.
    private func error(of bytes: [UInt8]?) throws -> SharedCoreError? {
        let directory = try PluginBuild(with: bytes)
        let error = #expect(throws: SharedCoreError.self) { try directory.load() }
        #expect(error?.location == "\(directory.path)/libsharedcore-faulty.so")
        return error
    }

    /// Returns where the last loaded segment of a library ends in its file.
    private static func loadedByteCount(of bytes: [UInt8]) -> Int? {
        loadedSegments(of: bytes).map { number(in: bytes, $0 + 8, 8) + number(in: bytes, $0 + 32, 8) }.max()
    }

    /// Returns where the headers of the loaded segments are.
    private static func loadedSegments(of bytes: [UInt8]) -> [Int] {
        (0..<number(in: bytes, 56, 2)).map { number(in: bytes, 32, 8) + 56 * $0 }.filter {
            number(in: bytes, $0, 4) == 1
        }
    }

    private static func number(in bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    @Test("A plugin whose code does not return its table in time is refused, and other plugins are loaded meanwhile")
    func slowTable() async throws {
        let build = try await Self.build.value
        let path = "\(build.path)/libsharedcore-slow.so"
        let error = #expect(throws: SharedCoreError.self) {
            try PluginTable.load(path, named: "slow", within: .milliseconds(50))
        }
        #expect(error?.code == .unavailable && error?.location == path)
        _ = try build.copy().load()
        #expect(try PluginTable.load(path, named: "slow").version == "0")
    }

    @Test("A file or a directory that others may write is not loaded", arguments: [0o666, 0o602, 0o620])
    func writable(mode: UInt32) async throws {
        let build = try await Self.build.value
        let directory = try build.copy()
        _ = try directory.load()
        try directory.setMode(mode, of: "libsharedcore-faulty.so")
        #expect(throws: (any Error).self) { try directory.load() }
        try directory.setMode(0o755, of: "libsharedcore-faulty.so")
        try directory.setMode(mode | 0o100, of: "")
        let error = #expect(throws: SharedCoreError.self) { try directory.load() }
        #expect(error?.code == .forbidden)
        try directory.setMode(0o755, of: "")
        _ = try directory.load()
    }

    // MARK: - What a plugin does wrong

    @Test(
        "A call that goes wrong is the error that it is",
        arguments: [
            ("append-code", SharedCoreError.Code.outcomeUnknown), ("append-full", .storageFull),
            ("read-no-start", .corrupt), ("read-two-starts", .corrupt), ("read-part", .corrupt),
            ("read-snapshot", .corrupt),
            ("read-null", .corrupt),
            ("read-many", .corrupt), ("read-garbage", .corrupt), ("read-wrong", .incompatible),
        ])
    func fails(fault: String, code: SharedCoreError.Code) async throws {
        let build = try await Self.build.value
        // A plugin that is loaded from a copy has a log of its own.
        let plugin = try build.copy().load()
        let error = await #expect(throws: SharedCoreError.self) {
            let group = try await plugin.open(group: "g", stateDirectory: "/", values: ["faulty.fault": fault])
            for number in 0..<5 {
                do {
                    try await group.put("k", [UInt8(number)])
                    _ = try await group.get("k")
                } catch {
                    await group.close()
                    throw error
                }
            }
            await group.close()
        }
        #expect(error?.code == code, "\(String(describing: error))")
    }

    @Test("An open that returns nothing, or promises nothing, fails", arguments: ["open-null", "open-durability"])
    func wrongOpen(fault: String) async throws {
        let plugin = try #require(try BackendPlugin.load("faulty", from: try await Self.build.value.path))
        let error = await #expect(throws: SharedCoreError.self) {
            try await plugin.open(group: "g", stateDirectory: "/", values: ["faulty.fault": fault])
        }
        #expect(error?.code == .system)
    }

    @Test("An open that does not return ends with its task")
    func cancelledOpen() async throws {
        // The function returns after 8 s.
        let opening = Task { _ = try await log(fault: "open-hang") }
        opening.cancel()
        let result = await opening.result
        let error = #expect(throws: SharedCoreError.self) { try result.get() }
        #expect(error?.code == .cancelled)
    }

    @Test("A message without an end is cut, and has its code")
    func endlessMessage() async throws {
        let plugin = try #require(try BackendPlugin.load("faulty", from: try await Self.build.value.path))
        let error = await #expect(throws: SharedCoreError.self) {
            try await plugin.open(group: "g", stateDirectory: "/", values: ["faulty.fault": "open-error"])
        }
        #expect(error?.code == .forbidden && error?.message == String(repeating: "m", count: 512))
        #expect(error?.location == String(repeating: "l", count: 256))
    }

    @Test(
        "The value of a secret setting is in no error: neither in one of opening, nor in one of a later call",
        arguments: ["open-secret", "append-secret"])
    func secret(fault: String) async throws {
        let plugin = try await Self.build.value.copy().load()
        let error = await #expect(throws: SharedCoreError.self) {
            let group = try await plugin.open(
                group: "g", stateDirectory: "/", values: ["faulty.fault": fault, "faulty.password": "hunter2"])
            do { for number in 0..<5 { try await group.put("k", [UInt8(number)]) } } catch {
                await group.close()
                throw error
            }
        }
        #expect(error?.code == .forbidden)
        #expect(error?.message == "The password (secret) is wrong." && error?.location == "server/(secret)")
    }

    @Test("A setting that the plugin does not have is refused")
    func unknownSetting() async throws {
        let plugin = try #require(try BackendPlugin.load("faulty", from: try await Self.build.value.path))
        let error = await #expect(throws: SharedCoreError.self) {
            try await plugin.open(group: "g", stateDirectory: "/", values: ["faulty.falt": "x"])
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("faulty.falt") == true)
    }

    @Test("A log whose end goes back has lost records, also behind the position that is read")
    func shorterLog() async throws {
        let log = try await log(fault: "read-shorter")
        for position in 0..<3 { #expect(try await log.append([1], at: UInt64(position))) }
        let error = await #expect(throws: SharedCoreError.self) { try await log.read(from: 0, limit: 1) }
        #expect(error?.code == .corrupt && error?.message.contains("before position 3") == true)
        await log.close()
    }

    @Test("A directory that has lost records is corrupt, for a handle that has read them and for a new one")
    func lostRecords() async throws {
        let plugin = try #require(try BackendPlugin.load("directory", from: try await Self.build.value.path))
        let scratch = try TemporaryDirectory()
        func open() async throws -> PluginLog {
            try await PluginLog.open(
                plugin.table,
                PluginPlace(
                    group: "g", stateDirectory: scratch.path, durability: nil, readsOnly: false, values: [nil],
                    secrets: [], timeout: .seconds(10)))
        }
        let log = try await open()
        for position in 0..<3 { #expect(try await log.append([1], at: UInt64(position))) }
        try FileManager.default.removeItem(atPath: scratch.path + "/g.log/record-00000000000000000002")
        let newcomer = try await open()
        for (log, position) in [(log, 0), (newcomer, 3)] as [(PluginLog, UInt64)] {
            let error = await #expect(throws: SharedCoreError.self) { try await log.read(from: position, limit: 10) }
            #expect(error?.code == .corrupt)
            await log.close()
        }
    }

    @Test("A snapshot is one piece of bytes for a plugin, and its parts again for the group")
    func snapshotParts() {
        let parts: [[UInt8]] = [[1, 2], [], [UInt8](repeating: 3, count: 70_000)]
        let bytes = PluginSnapshot.bytes(of: parts)
        #expect(bytes.count == 3 * 8 + 70_002)
        #expect(bytes.withUnsafeBytes { PluginSnapshot.parts(of: $0) } == parts)
        #expect([UInt8]().withUnsafeBytes { PluginSnapshot.parts(of: $0) } == [])
        for count in [1, 7, 9, bytes.count - 1] {
            #expect(bytes.prefix(count).withUnsafeBytes { PluginSnapshot.parts(of: $0) } == nil)
        }
        #expect([UInt8](repeating: 255, count: 16).withUnsafeBytes { PluginSnapshot.parts(of: $0) } == nil)
    }

    @Test("Functions run with signals blocked, so that a write to a closed socket is an error")
    func signals() async throws {
        let log = try await log(fault: "append-signals")
        #expect(try await log.append([1], at: 0))
        await log.close()
    }

    @Test("A function that does not return is given up; calls fail at once until it does, and go on then")
    func hangs() async throws {
        let log = try await log(fault: "append-hang", bounds: PluginLog.Bounds(call: .seconds(1)))
        for position in 0..<3 { #expect(try await log.append([1], at: UInt64(position))) }
        let late = await #expect(throws: SharedCoreError.self) { try await log.append([1], at: 3) }
        #expect(late?.code == .outcomeUnknown)
        let busy = await #expect(throws: SharedCoreError.self) { try await log.read(from: 0, limit: 1) }
        #expect(busy?.code == .unavailable && busy?.message.contains("append") == true)
        try await eventually("it returns") { (try? await log.read(from: 3, limit: 1))?.records == [[1]] }
        await log.close()
    }

    @Test("Closing does not wait for a function that does not return, and a call behind it is closed")
    func closesBesideAHang() async throws {
        let log = try await log(
            fault: "wait-hang", bounds: PluginLog.Bounds(close: .milliseconds(500)))
        let waiting = Task { try await log.wait(after: 0) }
        try await Task.sleep(for: .milliseconds(200))
        let began = SystemClock().now()
        await log.close()
        // The function returns 8 s after its begin.
        #expect(began.duration(to: SystemClock().now()) < .seconds(6))
        let error = await #expect(throws: SharedCoreError.self) { try await log.append([1], at: 0) }
        #expect(error?.code == .closed)
        waiting.cancel()
        _ = await waiting.result
    }

    @Test("An interrupt that does not return delays neither its caller nor the end, and later calls name it")
    func interruptHangs() async throws {
        let log = try await log(
            fault: "interrupt-hang", bounds: PluginLog.Bounds(call: .milliseconds(500), close: .milliseconds(500)))
        let began = SystemClock().now()
        let waiting = Task { try await log.wait(after: 0) }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        _ = await waiting.result
        let late = await #expect(throws: SharedCoreError.self) { try await log.append([1], at: 0) }
        #expect(late?.code == .unavailable && late?.message.contains("interrupt") == true)
        await log.close()
        // The function returns 8 s after its begin.
        #expect(began.duration(to: SystemClock().now()) < .seconds(6))
    }

    @Test("The end of a log interrupts its wait, also behind a call that is late")
    func interruptsBehindALateCall() async throws {
        let directory = try await Self.build.value.copy()
        let log = try await log(
            of: directory, fault: "append-hang",
            bounds: PluginLog.Bounds(call: .milliseconds(200), close: .milliseconds(100)))
        for position in 0..<3 { #expect(try await log.append([1], at: UInt64(position))) }
        let end = Promise<Void>()
        Task {
            try? await log.wait(after: 100)
            end.open()
        }
        try await eventually("the wait has begun") { try directory.waitingCount() == 1 }
        let late = await #expect(throws: SharedCoreError.self) { try await log.append([1], at: 3) }
        #expect(late?.code == .outcomeUnknown)
        await log.close()
        try await eventually("the wait ends when the call has returned") { !end.whileOpen {} }
    }

    @Test("A wait that is cancelled ends at once, before and after it has begun", arguments: [0, 50])
    func cancelledWait(delay: Int) async throws {
        let log = try await log(fault: "none")
        let waiting = Task { try await log.wait(after: 100) }
        try await Task.sleep(for: .milliseconds(delay))
        waiting.cancel()
        let result = await waiting.result
        let error = #expect(throws: SharedCoreError.self) { try result.get() }
        #expect(error?.code == .cancelled)
        try await withTimeout(TestTimeout.usual, "the log closes") { await log.close() }
    }

    private func log(
        of directory: PluginBuild? = nil, fault: String, bounds: PluginLog.Bounds = .init()
    ) async throws -> PluginLog {
        let build = try await Self.build.value
        let plugin = try (directory ?? build.copy()).load()
        return try await PluginLog.open(
            plugin.table,
            PluginPlace(
                group: "g", stateDirectory: "/", durability: nil, readsOnly: false, values: [fault, nil], secrets: [],
                timeout: .seconds(10)),
            bounds: bounds)
    }
}

@Suite("Conformance of the plugin in Examples", .serialized)
struct PluginConformanceTests {
    private static let cases =
        TestScope.isAtLength || TestScope.chosenCases != nil
        ? TestScope.cases : TestScope.casesOnce.filter { $0.id != "N8a" }

    @Test("a log in a directory, in C", arguments: PluginConformanceTests.cases)
    func conforms(conformanceCase: ConformanceCase) async throws {
        let build = try await PluginTests.build.value
        let plugin = try #require(try BackendPlugin.load("directory", from: build.path))
        let scratch = try TemporaryDirectory()
        let peer = PeerProgram(path: try ChildProcess.built("sharedcore-test-peer"))
        let path = scratch.path
        let harness = PluginHarness(plugin, values: [:], durability: nil, in: path, peer: peer) { "\(path)/\($0).log" }
        await conformanceCase.test(on: TestScope.harness(harness), leavingOut: Self.gaps)
    }

    /// The cases that a directory declares impossible, and those that the harness cannot try.
    private static let gaps: [String: String] = {
        let reasons = [
            "no places to stop at": ["S9b", "S9c", "N9a"],
            "a stopped process may hold the lock": [
                "S15a", "S15b", "S15c", "S15d", "C3b", "C3c", "C4b", "C6b", "C6c", "C6d", "C8f", "C9f", "C9h", "C14c",
                "C26c", "C26f",
            ],
            "only a hub brings a baton to another machine": ["C25e", "C25f", "C25g"],
            "deaths of processes are not simulated, but tried on real ones": ["L1d", "L3a"],
            "a directory has no server": ConformanceSuite.cases.filter { $0.fault != nil }.map(\.id),
        ]
        return reasons.reduce(into: [:]) { gaps, reason in for id in reason.value { gaps[id] = reason.key } }
    }()
}
