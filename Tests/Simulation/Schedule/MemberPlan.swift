package import CoreAPI

/// A participant of a schedule.
package struct MemberPlan: Hashable, Sendable {
    package let role: SessionRole
    /// Which process it lives in; several may share one.
    package let process: Int
}
