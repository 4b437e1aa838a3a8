internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

@Suite("The architecture is drawn from what is there")
struct ArchitectureTests {
    @Test("The pictures' arrows are those of Package.swift, and no more")
    func arrows() throws {
        let declared = try Rooms.declared().arrows()
        #expect(declared.count > 40)
        let drawn = try Rooms.drawn().arrows()
        #expect(declared.subtracting(drawn).sorted() == [], "not drawn")
        #expect(drawn.subtracting(declared).sorted() == [], "not there")
    }

    @Test("Arrows lead downward: from one layer of the picture to the same or a lower one")
    func layers() throws {
        var layers: [String: Int] = [:]
        var layer = 0
        for line in try Repository.text("Docs/Internals/Architecture.md").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "subgraph" { layer += 1 }
            if line.hasPrefix("        "), words.count == 1 { layers[String(words[0])] = layer }
        }
        #expect(layers.count > 25)
        for (room, others) in try Rooms.drawn().known {
            for other in others {
                guard let from = layers[room], let to = layers[other] else { continue }
                #expect(from <= to, "\(room) knows \(other)")
            }
        }
    }

    @Test("No program links Foundation, which brings ICU, nor does a library, but where gRPC needs it")
    func foundation() throws {
        let rooms = try Rooms.declared()
        var roots = ["SharedCore", "SharedCoreConfiguration", "CommandCore", "sharedcore"]
        #if compiler(>=6.3)
            roots.append("CLibrary")
        #endif
        let modules = roots.reduce(into: Set<String>()) { modules, name in
            modules.formUnion(rooms.reach(from: name).union([name]))
        }
        // Modules in C, and what gRPC needs where the trait is on.
        .subtracting(["CLinux", "CSharedCore", "CYAML", "CZMQ", "EtcdBackend"])
        #expect(modules.count > 10)
        for module in modules { #expect(try !Self.linksFoundation(module), "\(module)") }
        #expect(try Self.linksFoundation("DocumentationTests"), "what is looked for is to be seen where it is")
    }

    @Test("The kits for others' tests depend on no backend of ours, nor does coordination")
    func independence() throws {
        let rooms = try Rooms.declared()
        let backends = Set(rooms.known.keys.filter { $0.hasSuffix("Backend") })
        #expect(backends.count > 4)
        for room in ["CoreAPITesting", "CoreAPITestingAdapters", "Coordination", "Mailboxes", "Wormholes", "Lifecycle"]
        {
            #expect(rooms.known[room] != nil, "\(room)")
            #expect(rooms.reach(from: room).intersection(backends).sorted() == [], "\(room)")
        }
        // SharedCoreTesting simulates its processes in memory.
        #expect(rooms.reach(from: "SharedCoreTesting").intersection(backends) == ["InMemoryBackend"])
        #expect(!rooms.reach(from: "BundledHarnesses").isDisjoint(with: backends))
    }

    /// Returns true if an object file of a built module tells the linker to link all of Foundation.
    private static func linksFoundation(_ module: String) throws -> Bool {
        let programs = URL(filePath: try ChildProcess.built("sharedcore")).deletingLastPathComponent()
        let folder = programs.appending(path: "\(module).build")
        let objects = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".o") }
        try #require(!objects.isEmpty)
        return try objects.contains { name in
            try Data(contentsOf: folder.appending(path: name)).range(of: Data("-lFoundation\0".utf8)) != nil
        }
    }

    /// Files that call the C library themselves. They fork the process of a test, flood it with signals and pass on all
    /// of its descriptors, which no layer may offer.
    private static let ownDoors = [
        "BundledHarnesses/FileHarness+Peer.swift", "CoreAPITesting/Peers/ConformancePeer.swift",
        "CoreAPITesting/Peers/PeerSession.swift",
    ]

    @Test("The C library and the calls of the system are reached through Platform alone")
    func oneDoor() throws {
        let sources = Repository.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let users = try files.filter { file in
            try String(contentsOf: sources.appending(path: file), encoding: .utf8)
                .contains(#/(?m)^[^\/]*import (?:Glibc|CLinux)$/#)
        }
        #expect(users.contains("Platform/SystemCallError.swift"), "what is looked for is to be seen where it is")
        #expect(users.filter { !$0.hasPrefix("Platform/") }.sorted() == Self.ownDoors)
    }

    @Test("Each file that the ways name is there")
    func files() throws {
        let page = try Repository.text("Docs/Internals/Architecture.md")
        let names = page.matches(of: #/`([\w+\/]+\/[\w+]+\.swift)`/#).map(\.1)
        #expect(names.count > 30)
        for name in names {
            let path = Repository.root.appending(path: "Sources/\(name)").path
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }
}

/// The dependencies of each module.
struct Rooms {
    let known: [String: Set<String>]

    /// The targets under Sources, as `Package.swift` declares them.
    static func declared() throws -> Rooms {
        let manifest = try Repository.text("Package.swift")
        let declaration = #/^ +(?:room\(|\.(?:executableTarget|systemLibrary|target)\(\s*name:)\s*"(?<name>[\w-]+)"/#
            .anchorsMatchLineEndings()
        let starts = manifest.matches(of: declaration)
        var known: [String: Set<String>] = [:]
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1].range.lowerBound : manifest.endIndex
            let text = manifest[start.range.upperBound..<end].split(separator: "\n")
                .filter { !$0.contains(".product(") && !$0.contains("etcdOnly(") && !$0.contains("programsOnly(") }
                .joined(separator: "\n")
            guard !text.contains(#"path: "Tests/"#) else { continue }
            // An import under the condition of a trait counts too.
            let list = text.replacing(#/traits: \[.*?\]/#, with: "")
                .firstMatch(of: #/(?:knows|dependencies): \[(?<list>.*?)\]/#.dotMatchesNewlines())
            let quoted = list?.list ?? ""
            var names = Set(quoted.matches(of: #/"(\w[\w-]*)"/#).map { String($0.1) })
            if quoted.contains("zmqBackend") { names.insert("ZMQBackend") }
            if quoted.contains("etcdBackend") { names.insert("EtcdBackend") }
            known[String(start.name)] = names
        }
        return Rooms(known: known)
    }

    /// The arrows of the pictures.
    static func drawn() throws -> Rooms {
        var known: [String: Set<String>] = [:]
        let arrow = #/^ +([\w-]+) --> ([\w-]+)$/#.anchorsMatchLineEndings()
        for arrow in try Repository.text("Docs/Internals/Architecture.md").matches(of: arrow) {
            known[String(arrow.1), default: []].insert(String(arrow.2))
        }
        return Rooms(known: known)
    }

    /// The arrows as sentences, without those to modules that are reached through another one.
    func arrows() -> Set<String> {
        Set(
            known.flatMap { room, others in
                others.filter { other in !others.contains { $0 != other && reach(from: $0).contains(other) } }
                    .map { "\(room) knows \($0)" }
            })
    }

    func reach(from room: String) -> Set<String> {
        (known[room] ?? []).reduce(into: known[room] ?? []) { $0.formUnion(reach(from: $1)) }
    }
}
