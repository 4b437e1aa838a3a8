internal import SharedCoreConfiguration

/// A configuration file and, behind bytes of zero, variables of the environment.
enum ConfigurationTarget {
    static func run(_ input: [UInt8]) {
        let parts = input.split(separator: 0, omittingEmptySubsequences: false)
        var environment: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = String(decoding: part, as: UTF8.self).split(separator: "=", maxSplits: 1)
            if pair.count == 2 { environment["SHAREDCORE_\(pair[0])"] = String(pair[1]) }
        }
        let file = try? ConfigurationFile(path: "fuzz.yaml", content: Array(parts.first ?? []))
        for failure in file?.failures ?? [] { _ = failure.description }
        let resolution = Resolution(
            flags: [:], environment: environment, file: file, workingDirectory: .path("/tmp"))
        _ = try? resolution.overview()
        _ = try? resolution.backendConfiguration()
        _ = try? resolution.coordinationOptions()
        _ = try? resolution.coreCommand()
        _ = try? resolution.hubEndpoint()
        _ = try? resolution.variables()
        for text in file?.values.values.map(\.self) ?? [] {
            if let duration = DurationText.parse(text) {
                let written = DurationText.write(duration)
                require(
                    DurationText.parse(written).map(DurationText.write) == written, "a duration is read as another")
            }
            if let words = CommandText.parse(text) {
                require(CommandText.parse(CommandText.write(words)) == words, "a command is read as another")
            }
            _ = ByteCountText.parse(text)
        }
    }
}
