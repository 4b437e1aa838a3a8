/// The places in the middle of a write; see `FailPoint` in the backend.
enum FaultPlaces {
    /// In a commit, before it is part of the order.
    static let beforePublication = [
        "commit.afterLock", "commit.afterCatchUp", "commit.halfRecord", "commit.beforePublish",
    ]
    /// In a commit, after it has become part of the order.
    static let afterPublication = [
        "commit.afterPublish", "commit.beforeUnlock", "commit.beforeRing", "ring.before", "ring.after",
    ]
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
