// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI

// Source: contract C25.

extension BatonReach {
    /// The constant of `sharedcore.h`.
    var number: Int32 {
        switch self {
        case .none: Int32(SC_REACH_NONE)
        case .bytes: Int32(SC_REACH_BYTES)
        case .descriptors: Int32(SC_REACH_DESCRIPTORS)
        }
    }
}

extension BatonEnd {
    /// The constant of `sharedcore.h`. An outcome without a constant counts as unknown: the core sends nothing.
    var number: Int32 {
        switch self {
        case .applied: Int32(SC_BATON_APPLIED)
        case .failed: Int32(SC_BATON_FAILED)
        case .expired: Int32(SC_BATON_EXPIRED)
        case .refused: Int32(SC_BATON_REFUSED)
        default: Int32(SC_BATON_UNKNOWN)
        }
    }
}

/// Reads the kinds of batons that a participant takes.
///
/// - Throws: `limitExceeded` for more than 4, and `invalidArgument` for a text that is no kind.
func batonKinds(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) throws(Failure) -> [String] {
    var kinds: [String] = []
    for kind in try elements(pointer, count, "takes_batons", limit: Baton.maximumKindCount) {
        let kind = try text(kind, "takes_batons")
        guard Baton.isKind(kind) else {
            throw Failure(
                .invalidArgument,
                "The kind of a baton has 1 to 64 of the characters a-z, 0-9, “-”, “.” and “/”.", at: "takes_batons")
        }
        kinds.append(kind)
    }
    return kinds
}

@c @implementation public func sc_call_set_moves(
    _ call: UInt64, _ kind: UnsafePointer<CChar>?, _ needs: Int32, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let open = try Handles.find(call, as: OpenCallObject.self).call
        let kind = try optionalText(kind, "kind")
        guard let needs = UInt8(exactly: needs).flatMap(BatonNeed.init(rawValue:)) else {
            throw Failure(.invalidArgument, "There is no need \(needs) of a baton.", at: "needs")
        }
        try wait { () async throws(SharedCoreError) in try await open.setMoves(kind, needs: needs) }
        return Answer.ok
    }
}

@c @implementation public func sc_core_give_baton(
    _ core: UInt64, _ baton: UnsafePointer<sc_baton>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(core, as: CoreObject.self)
        let given = try sized(baton, "baton", "SC_BATON_INIT")
        let kind = try text(given.kind, "kind")
        let bytes = try bytes(given.bytes, given.byte_count, "bytes")
        let descriptors = try Array(elements(given.descriptors, given.descriptor_count, "descriptors"))
        var calls: [CallID] = []
        for id in try elements(given.calls, given.call_count, "calls") { calls.append(try callID(id)) }
        let made = try store { () throws(SharedCoreError) in
            try Baton(kind, bytes: bytes, descriptors: descriptors, calls: calls)
        }
        try object.give(made)
        return Answer.ok
    }
}

/// Returns the core, and the baton that it was given when it was told to start. The baton is nil if there is none, and
/// once the program has answered the event that told the core to start.
private func received(_ core: UInt64) throws(Failure) -> (CoreObject, ReceivedBaton?) {
    let object = try Handles.find(core, as: CoreObject.self)
    return (object, object.context.baton)
}

@c @implementation public func sc_core_take_descriptors(
    _ core: UInt64, _ descriptors: UnsafeMutablePointer<Int32>?, _ count: UnsafeMutablePointer<Int>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let places = try required(descriptors, "descriptors")
        let result = try required(count, "count")
        result.pointee = 0
        guard let baton = try received(core).1 else { return Answer.nothing }
        // A baton has at most as many descriptors as the array in the header.
        let taken = try store { () throws(SharedCoreError) in try baton.takeDescriptors() }
        for (index, descriptor) in taken.enumerated() { places[index] = descriptor }
        result.pointee = taken.count
        return Answer.ok
    }
}

@c @implementation public func sc_core_apply_baton(
    _ core: UInt64, _ calls: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let places = try required(calls, "calls")
        for index in 0..<Int(SC_BATON_CALLS) { places[index] = 0 }
        let (object, baton) = try received(core)
        guard let baton else { return Answer.nothing }
        let open = try wait { () async throws(SharedCoreError) in try await baton.apply() }
        let executor = object.context.store.deliveryExecutor
        // Keep the order of the baton. A call that is no longer open gets no handle.
        for (index, id) in baton.calls.enumerated() where index < Int(SC_BATON_CALLS) {
            guard let call = open.first(where: { $0.id == id }) else { continue }
            places[index] = try Handles.add(OpenCallObject(call, on: executor))
        }
        return Answer.ok
    }
}

@c @implementation public func sc_core_refuse_baton(
    _ core: UInt64, _ reason: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let reason = try optionalText(reason, "reason") ?? "its core cannot use it"
        guard let baton = try received(core).1 else { return Answer.nothing }
        try wait { () async throws(SharedCoreError) in try await baton.refuse(because: reason) }
        return Answer.ok
    }
}
