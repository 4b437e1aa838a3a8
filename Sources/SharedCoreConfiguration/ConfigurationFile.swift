/// A configuration file, YAML or JSON (which is YAML), that was read.
package struct ConfigurationFile: Sendable {
    /// The place of a value in the file, counted from 1.
    package struct Position: Hashable, Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// No sensible configuration is larger; what is, was named by mistake.
    package static let maximumByteCount = 64 << 10

    /// The path as it was given.
    package let path: String
    /// The values, by the settings' names.
    package let values: [String: String]
    /// Whether the caller or the environment named it.
    package var isNamed = true
    /// What is wrong in it, in the order of its lines: keys that are unknown or given twice, and wrong values. Those have no
    /// value here.
    package let failures: [ConfigurationFailure]

    /// What belongs to no setting, and may be a plugin's: see ``Resolution/loadingPlugin()``.
    package let others: [Other]

    /// A value in a section that could be a plugin's.
    package struct Other: Sendable {
        /// The key, with the section in front.
        package let name: String
        package let text: String
        /// The failure, where no plugin has the key.
        package let failure: ConfigurationFailure
    }

    /// The place of each value, for messages.
    private let positions: [String: Position]

    package init(
        path: String, values: [String: String], positions: [String: Position], failures: [ConfigurationFailure] = [],
        others: [Other] = []
    ) {
        self.others = others
        self.failures = failures
        self.path = path
        self.values = values
        self.positions = positions
    }

    /// Where the value of a setting stands; nil when the file does not give it.
    package func origin(of name: String) -> SettingOrigin? {
        positions[name].map { .file(path: path, line: $0.line, column: $0.column) }
    }
}
