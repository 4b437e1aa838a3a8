internal import CoreAPI

extension SharedCoreError {
    /// The error of a reader that comes before any participant.
    static func unopened(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable, "No participant has opened the group yet in this run of the machine, and a reader cannot.",
            at: path)
    }

    /// The error of a reader that is asked to write.
    static func readOnly(_ path: String) -> SharedCoreError {
        SharedCoreError(.forbidden, "The group was opened to look only. Open it as a participant to write.", at: path)
    }

    /// The error of a group whose files were taken away while it was open.
    static func lost(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable,
            "The group's files were removed or replaced while it was open. Open it again to use what stands there now.",
            at: path)
    }

    /// The error of a file whose layout has another version.
    static func layout(_ found: UInt64, known: UInt64, at path: String) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "The group's files have layout version \(found); this program knows version \(known). Use the program that wrote "
                + "them for all processes of the group, or another directory.",
            at: path)
    }
}
