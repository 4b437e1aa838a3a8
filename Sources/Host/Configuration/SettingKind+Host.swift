/// The kinds of settings that only the host has.
extension SettingKind where Value == Int {
    /// How many of something; at least one.
    static let count = SettingKind(
        name: "number", expectation: "a number from 1 to 10000",
        parse: { text in Int(text).flatMap { (1...10_000).contains($0) ? $0 : nil } })
}

extension SettingKind where Value == MetricsPlace? {
    /// A port, the path of a socket, or nowhere.
    static let metricsPlace = SettingKind(
        name: "port or path", expectation: MetricsPlace.expectation,
        parse: { $0 == "none" ? .some(nil) : MetricsPlace($0).map { .some($0) } })
}

extension SettingKind where Value == [String] {
    /// A program with its arguments.
    static let command = SettingKind(name: "command", expectation: CommandText.expectation, parse: CommandText.parse)
}

extension SettingKind where Value == UInt64? {
    /// An amount of memory, or none.
    static let memory = SettingKind(
        name: "memory", expectation: ByteCountText.expectation,
        parse: { text in
            if text == "none" { return .some(nil) }
            return ByteCountText.parse(text).map { .some($0) }
        })
}
