// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import BackendRegistry
public import CSharedCore
internal import CoreAPI
internal import SharedCoreConfiguration

@c @implementation public func sc_open(
    _ options: UnsafePointer<sc_options>?, _ group: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(group, "group")
        result.pointee = 0
        let options = try sized(options, "options", "SC_OPTIONS_INIT")
        guard options.configuration_file == nil else {
            throw Failure(.invalidArgument, "sc_open reads no file: call sc_open_configured.", at: "configuration_file")
        }
        let (configuration, description) = try read(options)
        let isReadOnly = options.read_only != 0
        let store = try wait { () async throws(SharedCoreError) -> any SharedStore in
            isReadOnly
                ? try await GroupObject.registry.openToRead(configuration, as: description)
                : try await GroupObject.registry.open(configuration, as: description)
        }
        result.pointee = try Handles.add(GroupObject(store, isReadOnly: isReadOnly))
        return Answer.ok
    }
}

@c @implementation public func sc_open_configured(
    _ options: UnsafePointer<sc_options>?, _ group: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(group, "group")
        result.pointee = 0
        let options = try sized(options, "options", "SC_OPTIONS_INIT")
        guard options.backend == nil, options.directory == nil, options.durability == nil else {
            throw Failure(
                .invalidArgument,
                "A group by configuration has its backend, its place and its durability in the settings: “backend=zmq”, "
                    + "“stateDirectory=/run/user/1000”, “group=chat”, “durability=disk”.", at: "options")
        }
        let description = try description(in: options)
        let values = try settings(in: options)
        let file = try optionalText(options.configuration_file, "configuration_file")
        let openTimeout = try openTimeout(in: options)
        let isReadOnly = options.read_only != 0
        let object = try wait { () async throws(SharedCoreError) in
            var configured = try await ConfiguredGroup.read(values, file: file)
            if let openTimeout { configured.backend.openTimeout = openTimeout }
            let store =
                isReadOnly
                ? try await configured.openToRead(as: description, in: GroupObject.registry)
                : try await configured.open(as: description, in: GroupObject.registry)
            return GroupObject(store, isReadOnly: isReadOnly, coordination: configured.coordination)
        }
        result.pointee = try Handles.add(object)
        return Answer.ok
    }
}

private func settings(in options: sc_options) throws(Failure) -> [String: String] {
    var settings: [String: String] = [:]
    for setting in try elements(options.settings, options.setting_count, "settings") {
        let text = try text(setting, "settings")
        guard let sign = text.firstIndex(of: "=") else {
            throw Failure(
                // Leave out the text, which may contain a secret.
                .invalidArgument,
                "A setting has the form zmq.endpoint=tcp://127.0.0.1:5555: the setting \(settings.count + 1) has no “=”.",
                at: "settings")
        }
        settings[String(text[..<sign])] = String(text[text.index(after: sign)...])
    }
    return settings
}

private func openTimeout(in options: sc_options) throws(Failure) -> Duration? {
    try optionalTime(options.open_timeout, "open_timeout")
}

private func description(in options: sc_options) throws(Failure) -> SessionDescription {
    let role = try optionalText(options.role, "role").map { SessionRole(rawValue: $0) } ?? .tool
    return SessionDescription(role: role, name: try optionalText(options.name, "name") ?? "")
}

private func read(_ options: sc_options) throws(Failure) -> (BackendConfiguration, SessionDescription) {
    var directory = try text(options.directory, "directory")[...]
    while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
    guard directory.hasPrefix("/"), directory != "/", let slash = directory.lastIndex(of: "/") else {
        throw Failure(
            .invalidArgument,
            "The directory of a group is an absolute path, such as /run/user/1000/chat, not “\(directory)”.",
            at: "directory")
    }
    var configuration = BackendConfiguration(
        backend: try optionalText(options.backend, "backend") ?? "file",
        group: String(directory[directory.index(after: slash)...]),
        stateDirectory: slash == directory.startIndex ? "/" : String(directory[..<slash]))
    if let text = try optionalText(options.durability, "durability") {
        guard let durability = Durability(rawValue: text) else {
            throw Failure(
                .invalidArgument, "A durability is memory, process or disk, not “\(text)”.", at: "durability")
        }
        configuration.durability = durability
    }
    configuration.settings = try settings(in: options)
    configuration.openTimeout = try openTimeout(in: options)
    return (configuration, try description(in: options))
}
