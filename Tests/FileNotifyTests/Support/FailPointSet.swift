/// The places in the middle of a write; see `FailPoint` in the backend.
enum FailPointSet {
    /// In a compaction.
    static let compaction = [
        "compaction.afterSnapshot", "compaction.beforeSeal", "compaction.afterSeal", "build.beforeRename",
        "build.afterRename", "compaction.beforeFloor", "compaction.afterFloor",
    ]
    /// In passing over a frozen writer.
    static let roll = [
        "roll.beforeSeal", "roll.afterSeal", "build.beforeRename", "build.afterRename", "roll.afterPlace",
    ]
}
