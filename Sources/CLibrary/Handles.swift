internal import Synchronization

/// An object that a C program has a handle of.
protocol HandleObject: AnyObject, Sendable {
    /// Ends the object, and wakes the threads that wait for it. Called once, after the handle has become invalid.
    func close()
}

/// The table of all open handles.
///
/// A handle is an index in the low half and a generation in the high half, which is never 0. Closing raises the slot's
/// generation, so a handle is never valid again.
enum Handles {
    fileprivate struct Slot {
        var generation: UInt32 = 1
        var object: (any HandleObject)?
    }

    fileprivate struct State {
        var slots: [Slot] = []
        var free: [UInt32] = []
    }

    private static let state = Mutex(State())

    /// Returns a new handle of an object.
    ///
    /// - Throws: `limitExceeded` at 2^32 open handles.
    static func add(_ object: any HandleObject) throws(Failure) -> UInt64 {
        let handle = state.withLock { state -> UInt64? in
            let index: UInt32
            if let last = state.free.popLast() {
                index = last
            } else {
                guard let next = UInt32(exactly: state.slots.count) else { return nil }
                index = next
                state.slots.append(Slot())
            }
            state.slots[Int(index)].object = object
            return UInt64(state.slots[Int(index)].generation) << 32 | UInt64(index)
        }
        guard let handle else { throw Failure(.limitExceeded, "There are too many handles.", at: "handle") }
        return handle
    }

    /// Returns the object of a handle.
    ///
    /// - Throws: `handle` if the handle is closed or unknown, or its object is of another type.
    static func find<Object: HandleObject>(_ handle: UInt64, as type: Object.Type) throws(Failure) -> Object {
        guard let object = find(handle) as? Object else {
            throw Failure(
                .handle, "The handle was closed, was never given, or is of another kind.", at: "handle \(handle)")
        }
        return object
    }

    /// Returns the object of a handle; nil if the handle is closed or unknown.
    static func find(_ handle: UInt64) -> (any HandleObject)? {
        state.withLock { $0.object(of: handle) }
    }

    /// Makes a handle invalid and returns its object; nil if the handle was not valid.
    static func remove(_ handle: UInt64) -> (any HandleObject)? {
        state.withLock { state in
            guard let object = state.object(of: handle) else { return nil }
            let index = Int(UInt32(truncatingIfNeeded: handle))
            state.slots[index].object = nil
            // A slot at the last generation is not used again: its next handle would equal its first.
            if state.slots[index].generation < .max {
                state.slots[index].generation += 1
                state.free.append(UInt32(index))
            }
            return object
        }
    }

    /// Makes a handle invalid and closes its object.
    ///
    /// - Throws: `handle` if the handle is closed or unknown.
    static func close(_ handle: UInt64) throws(Failure) {
        guard let object = remove(handle) else {
            throw Failure(.handle, "The handle was closed before, or was never given.", at: "handle \(handle)")
        }
        object.close()
    }
}

extension Handles.State {
    fileprivate func object(of handle: UInt64) -> (any HandleObject)? {
        let index = Int(UInt32(truncatingIfNeeded: handle))
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: handle >> 32) else {
            return nil
        }
        return slots[index].object
    }
}
