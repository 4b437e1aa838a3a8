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

    /// No sensible configuration is larger: a larger file was named by mistake.
    package static let maximumByteCount = 64 << 10

    /// The path as it was given.
    package let path: String
    /// The values, by the settings' names.
    package let values: [String: String]
    /// True if the caller or the environment named the file.
    package var isNamed = true
    /// The failures in the file, in the order of its lines: keys that are no text, unknown or given twice, and wrong
    /// values. Of a key that is given twice, ``values`` has the first value; the others have none.
    package let failures: [ConfigurationFailure]

    /// The values that belong to no setting, and may be a plugin's: see ``Resolution/loadingBackend(among:)``.
    package let others: [Other]

    /// A value in a section that could be a plugin's.
    package struct Other: Sendable {
        /// The key, with the section in front.
        package let name: String
        package let text: String
        /// The place of the key.
        let place: String
        /// The failure, where there is no plugin for the section.
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

    /// Returns the place of a setting's value; nil if the file does not give it.
    package func origin(of name: String) -> SettingOrigin? {
        positions[name].map { .file(path: path, line: $0.line, column: $0.column) }
    }
}
