internal import Platform

/// Finds the configuration file: the one that was named, else the first that is there of those that may be.
struct ConfigurationSearch {
    /// What `--config` says.
    let flag: String?
    let environment: [String: String]

    /// Reads the file; nil when none was named and none is there.
    func read() throws(CommandFailure) -> ConfigurationFile? {
        if let flag {
            return try read(flag, namedBy: "--config")
        }
        if let named = environment[EnvironmentLayer.fileVariable], !named.isEmpty {
            return try read(named, namedBy: EnvironmentLayer.fileVariable)
        }
        for path in ["sharedcore.yaml", personal].compactMap(\.self) {
            if let content = try content(of: path) {
                return try ConfigurationFile(path: path, content: content)
            }
        }
        return nil
    }

    /// The file of the user, for all directories.
    private var personal: String? {
        UserDirectory.configuration.path(in: environment).map { $0 + "/sharedcore/config.yaml" }
    }

    private func read(_ path: String, namedBy source: String) throws(CommandFailure) -> ConfigurationFile {
        guard let content = try content(of: path) else {
            throw .configuration("\(source): there is no file “\(path)”; it must name a YAML or JSON file.")
        }
        return try ConfigurationFile(path: path, content: content)
    }

    /// The bytes of a file, no more of them than a configuration can have and one; nil when it is not there.
    private func content(of path: String) throws(CommandFailure) -> [UInt8]? {
        do throws(SystemCallError) {
            return try SmallFile.read(path, upTo: ConfigurationFile.maximumByteCount + 1)
        } catch {
            if error.isAbsent { return nil }
            throw .configuration("\(path): cannot be read: \(error.text).")
        }
    }
}
