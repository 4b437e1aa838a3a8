internal import CoreAPI

/// Proves the rules of ownership on a timeline, or says what breaks them.
///
/// Pure: the same history gives the same report.
///
/// Source: contract C15.
public enum TimelineChecker {
    /// Checks a history from its checkpoint on, or from the beginning when nothing was dropped.
    public static func check(_ history: TimelineHistory) -> CheckReport {
        var ledger = history.checkpoint?.ledger ?? OwnershipLedger()
        var violations = history.damages
        for record in history.records { violations += ledger.apply(record) }
        violations.sort { $0.revision < $1.revision }
        return CheckReport(
            entryCount: history.records.count, violations: violations, overlaps: ledger.overlaps,
            supersededOverlaps: ledger.supersededOverlaps, unprovedThrough: history.checkpoint?.through)
    }
}
