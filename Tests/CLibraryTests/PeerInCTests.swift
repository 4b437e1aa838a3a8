internal import BundledHarnesses
internal import CoreAPI
internal import CoreAPITesting
internal import CoreAPITestingAdapters
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// The conformance suite with a second process that reaches the group through `sharedcore.h` alone: Tests/CLibraryTests/C/Peer.
@Suite("The contract holds for a process that uses the C library", .serialized, .enabled(if: TestScope.isCheck))
struct PeerInCTests {
    @Test("over files", arguments: PeerCases.inFiles)
    func files(conformanceCase: ConformanceCase) async throws {
        try await Self.judge(conformanceCase, leavingOut: PeerCases.gaps) { directory, peer in
            FileHarness(durability: .process, in: directory, peer: peer)
        }
    }

    @Test("through a hub", .enabled(if: PeerCases.areAllRun), arguments: PeerCases.all)
    func hub(conformanceCase: ConformanceCase) async throws {
        try await Self.judge(conformanceCase, leavingOut: PeerCases.gaps) { directory, peer in
            ZMQHarness(.files, over: .ipc, in: directory, peer: peer)
        }
    }

    @Test("The peer links the library and what it brings, and needs nothing of Swift")
    func links() async throws {
        let peer = try await PeerInC.plain.value
        let needed = try await Self.lines("readelf -d '\(peer)' | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'")
        #expect(Set(needed) == ["libsharedcore.so\(PeerInC.suffix)", "libc.so.6"])
        let library = try PeerInC.library
        let brought = try await Self.lines("ldd '\(library)' | awk '{ print $1 }' | sed 's|.*/||'")
        let loaded = try await Self.lines("ldd '\(peer)' | awk '{ print $1 }' | sed 's|.*/||'")
        #expect(loaded.contains("libsharedcore.so\(PeerInC.suffix)"))
        #expect(Set(loaded).subtracting(brought) == ["libsharedcore.so\(PeerInC.suffix)"])
        let symbols = try await Self.lines("nm -D -u '\(peer)' | awk '{ print $2 }'")
        #expect(symbols.contains("sc_open"))
        let foreign = symbols.filter { symbol in
            !symbol.hasPrefix("sc_") && !symbol.contains("@GLIBC_") && !["__gmon_start__"].contains(symbol)
                && !symbol.hasPrefix("_ITM_")
        }
        #expect(foreign == [])
    }

    @Test("A released library leaves out five cases at most, which the page lists with their reason")
    func leftOut() throws {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let page = OpenFile.text(of: root + "/Docs/Reference/CLibrary.md", upTo: 1 << 20) ?? ""
        #expect(PeerCases.ofReleasedLibrary.count <= 5)
        for gaps in [PeerCases.ofReleasedLibrary, PeerCases.ofSuite] {
            for (reason, ids) in Dictionary(grouping: gaps.keys.sorted(), by: { gaps[$0] ?? "" }) {
                #expect(page.contains("| \(ids.joined(separator: ", ")) | \(reason)"), "\(reason)")
            }
        }
        // The cases of the suite start no second process, in C or in Swift.
        for conformanceCase in ConformanceSuite.cases where PeerCases.ofSuite[conformanceCase.id] != nil {
            #expect(!PeerCases.startsPeer(conformanceCase))
        }
    }

    private static func lines(_ script: String) async throws -> [String] {
        let shell = try ChildProcess("/bin/sh", ["-c", script])
        #expect(await shell.end() == .exited(0), "\(script)")
        return shell.lines
    }

    private static func judge(
        _ conformanceCase: ConformanceCase, leavingOut gaps: [String: String],
        by harness: (String, PeerProgram) -> any ConformanceHarness
    ) async throws {
        let directory = try TemporaryDirectory()
        let note = directory.path + "/peer-was-started"
        // `env` becomes the peer: it has the same process.
        let program = PeerProgram(
            path: "/usr/bin/env",
            arguments: [
                "ASAN_OPTIONS=" + PeerInC.sanitizer(at: directory.path), try await PeerInC.sanitized.value, note,
            ])
        await conformanceCase.test(on: harness(directory.path, program), leavingOut: gaps)
        let reports = try Directory(path: directory.path).names().filter { $0.hasPrefix(PeerInC.reportName) }
        let report = reports.first.flatMap { OpenFile.text(of: directory.path + "/" + $0, upTo: 1 << 14) }
        #expect(reports.isEmpty, "\(conformanceCase.id): the sanitizer reports \(report ?? "")")
        // A case that is left out may end before it starts one.
        guard gaps[conformanceCase.id] == nil else { return }
        let isExpected = PeerCases.startsPeer(conformanceCase)
        #expect(FileStatus.exists(note) == isExpected, "\(conformanceCase.id) starts a peer, or is in the list")
    }
}

/// The program, built with the address sanitizer and without, once against the library beside the tests, or the one of `SHAREDCORE_C_LIBRARY`.
private enum PeerInC {
    static let given = getenv("SHAREDCORE_C_LIBRARY").map { String(cString: $0) }
    /// The end of the library's name.
    static var suffix: String { given == nil ? "" : ".0" }
    private static let directory = Result { try TemporaryDirectory() }
    static var library: String { get throws { try given ?? OwnProgram.sibling("libsharedcore-c.so") } }

    /// Runs the cases.
    static let sanitized = Task { try await build("sanitized", "-fsanitize=address -fuse-ld=lld") }
    /// Shows what it links: the sanitizer brings libraries of its own.
    static let plain = Task { try await build("peer", "") }

    /// The beginning of a report's name.
    static let reportName = "sanitizer-report"

    /// The options of the sanitizer of a peer: reports go into a file, and signals are left to the library.
    static func sanitizer(at directory: String) -> String {
        "detect_leaks=1:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:log_path=\(directory)/\(reportName)"
    }

    private static func build(_ name: String, _ options: String) async throws -> String {
        let folder = try directory.get().path + "/" + name
        _ = try Directory.create(path: folder, permissions: 0o700)
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let script = """
            ln -s '\(try library)' '\(folder)/libsharedcore.so\(suffix)'
            exec "${CC:-clang}" -std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -Werror \(options) -I Sources/CSharedCore/include \
                Tests/CLibraryTests/C/Peer/*.c -L '\(folder)' -l:libsharedcore.so\(suffix) '-Wl,-rpath,\(folder)' -lpthread \
                -o '\(folder)/peer'
            """
        let compiler = try ChildProcess("/bin/sh", ["-euc", "cd '\(root)'\n" + script], keepsErrors: true)
        let end = await compiler.end()
        #expect(end == .exited(0), "\(compiler.errorText(upTo: 1 << 14))")
        return folder + "/peer"
    }
}

/// The cases that start a second process.
private enum PeerCases {
    private static let ids: Set<Substring> = Set(
        """
        S4f S6c S6d S9b S9c S9d S14b S15b S15c S15d W1j N1c N3d N4c N9a N9b L1e L1f L1g L2b L3b L3d C3a C3b C3c C3g C3j C4b \
        C5a C5b C6a C6b C6c C6d C6e C7b C8a C8b C8c C8e C8f C8g C9a C9b C9d C9e C9f C9h C10a C10b C12a C13b C14a C14b C14c \
        C23a C23c C23d C23e C24a C24b C24c C24d C24e C25a C25b C25c C25d C26a C26b C26c C26d C26e C26f P13a M4d M6f
        """.split(separator: " "))

    static func startsPeer(_ conformanceCase: ConformanceCase) -> Bool { ids.contains(conformanceCase.id[...]) }

    static let all = TestScope.chosenCases ?? ConformanceSuite.cases.filter(startsPeer)

    static let areAllRun = TestScope.chosenCases != nil || TestScope.isAtLength

    /// Each rule once in `make check`. All cases of the suite where tests run at length: so one that is not in the list is found.
    static let inFiles =
        TestScope.isAtLength && TestScope.chosenCases == nil
        ? ConformanceSuite.cases
        : areAllRun
            ? all
            : all.filter { conformanceCase in
                let ofRule = all.filter {
                    $0.rule == conformanceCase.rule && !TestScope.longCases.contains($0.id) && gaps[$0.id] == nil
                }
                return ofRule.first?.id == conformanceCase.id
            }

    /// The cases that no run with a second process has: in BundledBackendTests they are left out for the same reasons.
    static let ofSuite = gaps(
        [
            "deaths and stops of processes are not simulated": "S15a L1d L3a",
            "on one machine a baton needs no hub": "C25e C25f C25g",
            "no server is broken here":
                ConformanceSuite.cases.filter { $0.fault != nil }.map(\.id).joined(separator: " "),
        ])

    /// The cases that a released library cannot be tried on. A debug build of it leaves out none: what the C interface has no calls
    /// for would be here.
    static let ofReleasedLibrary = gaps(["fail points exist in debug builds only": "S9b S9c S15b S15c N9a"])

    /// The reasons for which cases cannot be tried, over files and through a hub.
    static let gaps =
        PeerInC.given == nil ? ofSuite : ofSuite.merging(ofReleasedLibrary) { first, _ in first }

    private static func gaps(_ casesOfReasons: [String: String]) -> [String: String] {
        var gaps: [String: String] = [:]
        for (reason, ids) in casesOfReasons {
            for id in ids.split(separator: " ") { gaps[String(id)] = reason }
        }
        return gaps
    }
}
