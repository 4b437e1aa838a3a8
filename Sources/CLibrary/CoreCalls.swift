// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI

@c @implementation public func sc_core_started(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?)
    -> Int32
{
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).start()
        return Answer.ok
    }
}

@c @implementation public func sc_core_failed(
    _ core: UInt64, _ reason: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let reason = try optionalText(reason, "reason") ?? "The core has failed."
        try Handles.find(core, as: CoreObject.self).fail(reason)
        return Answer.ok
    }
}

@c @implementation public func sc_core_stopped(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?)
    -> Int32
{
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).close()
        _ = Handles.remove(core)
        return Answer.ok
    }
}

@c @implementation public func sc_core_report(
    _ core: UInt64, _ problem: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let problem = try text(problem, "problem")
        try wait { () async throws(SharedCoreError) in await context.report(problem) }
        return Answer.ok
    }
}

@c @implementation public func sc_core_group(
    _ core: UInt64, _ group: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(group, "group")
        result.pointee = 0
        let core = try Handles.find(core, as: CoreObject.self)
        result.pointee = try Handles.add(GroupObject(core.context.store, isBorrowed: true))
        return Answer.ok
    }
}

@c @implementation public func sc_core_enter_critical_section(
    _ core: UInt64, _ maximum: Int64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        let maximum = Duration.milliseconds(min(max(maximum, 0), Deadline.maximum))
        try wait { () async throws(SharedCoreError) in
            try await context.enterCriticalSection(maximumDuration: maximum)
        }
        return Answer.ok
    }
}

@c @implementation public func sc_core_leave_critical_section(
    _ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let context = try Handles.find(core, as: CoreObject.self).context
        try wait { () async throws(SharedCoreError) in try await context.leaveCriticalSection() }
        return Answer.ok
    }
}

// MARK: - Activities

/// An activity of a core.
final class ActivityObject: HandleObject {
    let activity: OpenActivity

    init(_ activity: OpenActivity) { self.activity = activity }

    /// Does nothing: the activity lasts until its bound, or until the ownership is over.
    func close() {}
}

@c @implementation public func sc_activity_begin(
    _ core: UInt64, _ kind: UnsafePointer<CChar>?, _ bound: Int64, _ id: UnsafePointer<CChar>?,
    _ activity: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(activity, "activity")
        result.pointee = 0
        let context = try Handles.find(core, as: CoreObject.self).context
        let name = try text(kind, "kind")
        let id = try text(id, "id")
        let kind: Activity.Kind =
            switch name {
            case Activity.Kind.call.name: .call
            case Activity.Kind.transfer.name: .transfer
            default: .custom(name, bound: try optionalTime(bound, "bound") ?? .zero)
            }
        let open = try wait { () async throws(SharedCoreError) in try await context.begin(kind, id: id) }
        result.pointee = try Handles.add(ActivityObject(open))
        return Answer.ok
    }
}

@c @implementation public func sc_activity_end(
    _ activity: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let open = try Handles.find(activity, as: ActivityObject.self).activity
        try wait { () async throws(SharedCoreError) in try await open.end() }
        _ = Handles.remove(activity)
        return Answer.ok
    }
}
