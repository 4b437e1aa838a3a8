internal import Foundation
internal import Platform
import TestSupport
import Testing

@testable import PluginBackend

/// The plugins of the tests, compiled into a directory.
struct PluginBuild: Sendable {
    let directory: TemporaryDirectory
    var path: String { directory.path }

    init() async throws {
        directory = try TemporaryDirectory()
        try setMode(0o755, of: "")
        let variants = [
            "faulty": [], "abi": ["-DABI=3", "-DNAME=\"abi\""], "notable": ["-DNO_TABLE"],
            "othername": ["-DNAME=\"another\""], "missing": ["-DMISSING", "-DNAME=\"missing\""],
            "small": ["-DSIZE=8", "-DNAME=\"small\""], "count": ["-DCOUNT=SIZE_MAX", "-DNAME=\"count\""],
            "key": ["-DKEY=\"a.b\"", "-DNAME=\"key\""],
            "default": ["-DDEFAULT=\"hunter2\"", "-DNAME=\"default\""],
            "slow": ["-DSLOW=4", "-DNAME=\"slow\""],
        ]
        for (name, options) in variants { try await compile(Self.faulty, as: name, options) }
        try await compile(Self.root + "/Examples/Plugins/directory.c", as: "directory", ["-O2"])
        try await compile("/dev/null", as: "nosymbol", ["-x", "c"])
        try Data("no library\n".utf8).write(to: URL(filePath: file(of: "text")))
        try setMode(0o644, of: "libsharedcore-text.so")
    }

    /// Compiles the plugin for Redis.
    func compileRedis() async throws {
        try await compile(Self.root + "/Examples/Plugins/redis.c", as: "redis", ["-O2", "-lhiredis"])
    }

    /// A directory with one plugin, whose constructor does not return (`BLOCKS`) or ends the program (`EXITS`).
    static func constructor(_ macro: String) async throws -> PluginBuild {
        let build = try PluginBuild(directory: TemporaryDirectory())
        try build.setMode(0o755, of: "")
        try await build.compile(faulty, as: "faulty", ["-D\(macro)"])
        return build
    }

    private init(directory: TemporaryDirectory) throws {
        self.directory = directory
    }

    /// A directory with a file in place of the faulty plugin that has these bytes, or with a directory of its name.
    init(with bytes: [UInt8]?) throws {
        directory = try TemporaryDirectory()
        try setMode(0o755, of: "")
        if let bytes {
            try Data(bytes).write(to: URL(filePath: file(of: "faulty")))
            try setMode(0o644, of: "libsharedcore-faulty.so")
        } else {
            try FileManager.default.createDirectory(atPath: file(of: "faulty"), withIntermediateDirectories: false)
        }
    }

    private init(copying former: PluginBuild) throws {
        directory = try TemporaryDirectory()
        try setMode(0o755, of: "")
        // A copy of the file, so that the system loads it once more, with a log of its own.
        try FileManager.default.copyItem(atPath: former.file(of: "faulty"), toPath: file(of: "faulty"))
    }

    /// A directory with a copy of the faulty plugin.
    func copy() throws -> PluginBuild { try PluginBuild(copying: self) }

    /// The bytes of the faulty plugin.
    var bytes: [UInt8] { get throws { Array(try Data(contentsOf: URL(filePath: file(of: "faulty")))) } }

    /// Returns the number of waits of the faulty plugin that are blocked.
    func waitingCount() throws -> Int32 {
        let library = try DynamicLibrary(named: file(of: "faulty"), remedy: "it was loaded before")
        let count: @convention(c) () -> Int32 = try library.function("faulty_waiting")
        return count()
    }

    /// Loads the faulty plugin.
    func load() throws -> BackendPlugin { try #require(try BackendPlugin.load("faulty", from: path)) }

    func setMode(_ mode: UInt32, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path + "/" + name)
    }

    private func file(of name: String) -> String { "\(path)/libsharedcore-\(name).so" }

    private func compile(_ source: String, as name: String, _ options: [String]) async throws {
        let compiler = try ChildProcess(
            ProcessInfo.processInfo.environment["CC"] ?? "clang",
            ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", Self.root + "/Sources/CBackendPlugin/include"]
                + options + [source, "-o", file(of: name), "-lpthread"],
            keepsErrors: true)
        let end = await compiler.end()
        try #require(end == .exited(0), "\(compiler.errorText(upTo: 1 << 14))")
        try setMode(0o755, of: "libsharedcore-\(name).so")
    }

    private static let faulty = root + "/Tests/PluginTests/C/faulty.c"

    /// The package's directory.
    private static var root: String {
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    }
}
