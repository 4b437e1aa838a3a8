internal import CoreAPI

extension SharedCoreError {
    /// The error of a file whose layout has another version.
    static func layout(_ found: UInt64, known: UInt64, at path: String) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "The group's files have layout version \(found); this program knows version \(known). Use one version of the "
                + "program for all processes of a group.",
            at: path)
    }
}
