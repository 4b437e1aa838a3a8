internal import CBackendPlugin
internal import CoreAPI
internal import LogBackend
internal import Platform
internal import Synchronization

/// The table of a plugin: its functions, with checks of their results.
struct PluginTable: Sendable {
    typealias Symbol = @convention(c) (UInt32) -> UnsafePointer<sb_backend>?
    static let symbol = "sharedcore_backend"

    let version: String
    let settings: [BackendPlugin.Setting]
    let promises: PluginPromises
    /// The functions, none of which is missing. They are code of a library that is never unloaded.
    nonisolated(unsafe) let functions: sb_backend
    /// The file, for messages.
    let path: String

    private typealias Loading = OwnedThread.Outcome<Result<PluginTable, SharedCoreError>>

    /// The files that are being loaded or were loaded, by their paths.
    private static let loadings = Mutex<[String: Loading]>([:])

    /// Loads a file at a path that was checked. A path is loaded once in a process, and again only after a failure. Blocks
    /// for at most `bound`.
    ///
    /// - Throws: `incompatible`, `unsupported`; `unavailable` if the plugin's code does not return in time.
    static func load(
        _ path: String, named name: String, within bound: Duration = .seconds(10)
    ) throws(SharedCoreError) -> PluginTable {
        let loading: Loading
        do throws(SystemCallError) {
            loading = try loadings.withLock { loadings throws(SystemCallError) in
                if let other = loadings[path] {
                    guard case .failure? = other.result else { return other }
                }
                let loading = try OwnedThread.run("sc-plugin-load") {
                    Result { () throws(SharedCoreError) in try PluginTable(loading: path, named: name) }
                }
                loadings[path] = loading
                return loading
            }
        } catch {
            throw SharedCoreError(error)
        }
        guard let result = loading.wait(until: .now.advanced(by: bound)) else {
            throw SharedCoreError(.unavailable, "The plugin has not returned its table within \(bound).", at: path)
        }
        return try result.get()
    }

    /// True while a file is being loaded, also one that was given up.
    static var isLoading: Bool { loadings.withLock { $0.values.contains { $0.result == nil } } }

    private init(loading path: String, named name: String) throws(SharedCoreError) {
        try PluginFile.check(path)
        let symbol: Symbol
        do throws(SharedCoreError) {
            symbol = try DynamicLibrary(
                named: path, remedy: "is it built for this system, and is all there that it needs"
            ).function(Self.symbol)
        } catch {
            throw SharedCoreError(.unsupported, error.message, at: path, cause: error.cause)
        }
        try self.init(symbol, named: name, at: path)
    }

    /// Reads the table. Only its pointers are trusted; everything else is checked against the header.
    ///
    /// - Throws: `incompatible`, `unsupported`.
    init(_ symbol: Symbol, named name: String, at path: String) throws(SharedCoreError) {
        guard let pointer = symbol(UInt32(SB_ABI)) else {
            throw SharedCoreError(
                .incompatible,
                "The plugin has no table for version \(SB_ABI) of the interface, which this program has.",
                at: path)
        }
        guard pointer.pointee.abi == SB_ABI else {
            throw SharedCoreError(
                .incompatible,
                "The plugin has version \(pointer.pointee.abi) of the interface, and this program has \(SB_ABI).",
                at: path)
        }
        func wrong(_ problem: String) -> SharedCoreError {
            SharedCoreError(.unsupported, "The plugin's table is wrong: \(problem).", at: path)
        }
        guard pointer.pointee.size >= MemoryLayout<sb_backend>.size else {
            throw wrong("its size is \(pointer.pointee.size), not \(MemoryLayout<sb_backend>.size) or more")
        }
        let table = pointer.pointee
        guard Self.text(table.name) == name else {
            throw wrong("its name is “\(Self.text(table.name)?.prefix(64) ?? "")”, not “\(name)” as in the file's")
        }
        guard table.open != nil, table.append != nil, table.read != nil, table.wait != nil, table.interrupt != nil,
            table.compact != nil, table.close != nil
        else { throw wrong("a function is missing") }
        guard (0...64).contains(table.setting_count), table.settings != nil || table.setting_count == 0 else {
            throw wrong("it has no settings, or more than 64")
        }
        var settings: [BackendPlugin.Setting] = []
        for index in 0..<table.setting_count {
            let setting = table.settings[index]
            guard let key = Self.text(setting.key), Self.isKey(key), let summary = Self.text(setting.summary),
                !settings.contains(where: { $0.key == "\(name).\(key)" })
            else { throw wrong("setting \(index) has no key of letters and digits of its own, or no summary") }
            let isSecret = setting.flags & UInt32(SB_SETTING_SECRET) != 0
            guard !isSecret || setting.default_value == nil else {
                throw wrong("setting \(index) is secret and has a default")
            }
            settings.append(
                BackendPlugin.Setting(
                    key: "\(name).\(key)", fallback: Self.text(setting.default_value), summary: summary,
                    isPath: setting.flags & UInt32(SB_SETTING_PATH) != 0, isSecret: isSecret))
        }
        guard let promises = table.promises.flatMap({ PluginPromises($0.pointee) }) else {
            throw wrong("it promises no durability")
        }
        version = Self.text(table.version) ?? ""
        self.settings = settings
        self.promises = promises
        self.path = path
        functions = table
    }

    /// Copies a text of the plugin.
    private static func text(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }

    private static func isKey(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            }
    }

    // MARK: - Calls

    /// Makes a call that returns a code.
    ///
    /// - Returns: The code, if it is not an error.
    /// - Throws: The plugin's error, with its message.
    func call(
        _ name: String, allowing allowed: [Int] = [SB_OK], _ body: (UnsafeMutablePointer<sb_error>) -> Int32
    ) throws(SharedCoreError) -> Int32 {
        var error = sb_error()
        let code = body(&error)
        if allowed.contains(Int(code)) { return code }
        let message = Self.text(of: error.message)
        let location = Self.text(of: error.location)
        guard let known = Self.codes[Int(code)] else {
            throw SharedCoreError(
                .system, "The plugin's function “\(name)” returned \(code), which is no code of its interface.",
                at: path,
                cause: message.isEmpty ? nil : message)
        }
        throw SharedCoreError(
            known, message.isEmpty ? "The plugin's function “\(name)” failed." : message,
            at: location.isEmpty ? path : location)
    }

    private static let codes: [Int: SharedCoreError.Code] = [
        SB_ERR_INVALID_ARGUMENT: .invalidArgument, SB_ERR_LIMIT_EXCEEDED: .limitExceeded,
        SB_ERR_OUTCOME_UNKNOWN: .outcomeUnknown, SB_ERR_UNSUPPORTED: .unsupported,
        SB_ERR_STORAGE_FULL: .storageFull, SB_ERR_FORBIDDEN: .forbidden, SB_ERR_UNAVAILABLE: .unavailable,
        SB_ERR_INCOMPATIBLE: .incompatible, SB_ERR_CORRUPT: .corrupt, SB_ERR_SYSTEM: .system,
    ]

    /// Copies a text that may have no NUL.
    private static func text<Characters>(of characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The promises of a log, as Swift has them.
struct PluginPromises: Sendable {
    let durability: Durability
    let features: Set<Capability>
    let wakeUp: WakeUpMethod
    let raw: sb_promises

    /// Returns nil for an unknown durability.
    init?(_ promises: sb_promises) {
        raw = promises
        switch Int(promises.durability) {
        case SB_DURABILITY_MEMORY: durability = .memory
        case SB_DURABILITY_PROCESS: durability = .process
        case SB_DURABILITY_DISK: durability = .disk
        default: return nil
        }
        var features: Set<Capability> = [.multipleProcesses, .promptDeathNotice]
        if promises.features & UInt32(SB_STOPPED_WRITERS_TOLERATED) != 0 { features.insert(.stoppedWritersTolerated) }
        if promises.features & UInt32(SB_ENDINGS_ON_FULL_DISK) != 0 { features.insert(.endingsOnFullDisk) }
        self.features = features
        wakeUp = promises.poll_interval > 0 ? .polling(every: .milliseconds(promises.poll_interval)) : .direct
    }
}
