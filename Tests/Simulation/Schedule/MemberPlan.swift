package import CoreAPI

/// A participant of a schedule.
package struct MemberPlan: Hashable, Sendable {
    package let role: SessionRole
    /// Which process it lives in; several may share one.
    package let process: Int
    /// The process whose number it has been given, when that one is dead.
    package var reusesNumberOf: Int?
}
