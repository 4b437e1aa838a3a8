extension Int {
    /// So many of something, as people say it: “1 push”, “2 pushes”.
    ///
    /// - Parameter plural: The word for several; nil for one that only takes an s.
    func counting(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) " + (self == 1 ? singular : plural ?? singular + "s")
    }
}
