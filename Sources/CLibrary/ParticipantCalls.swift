// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform

@c @implementation public func sc_main_start(
    _ group: UInt64, _ options: UnsafePointer<sc_participant_options>?, _ participant: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try openParticipant(of: group, options, in: participant) { store, options, events throws(Failure) in
            .main(
                try CLibrary.store { () throws(SharedCoreError) in
                    try MainParticipant(of: store, options: options) { BridgedCore(events) }
                })
        }
    }
}

@c @implementation public func sc_executor_open(
    _ group: UInt64, _ options: UnsafePointer<sc_participant_options>?, _ participant: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try openParticipant(of: group, options, in: participant) { store, options, events throws(Failure) in
            .executor(
                try CLibrary.store { () throws(SharedCoreError) in
                    try ExecutorParticipant(of: store, options: options) { BridgedCore(events) }
                })
        }
    }
}

@c @implementation public func sc_participant_next(
    _ participant: UInt64, _ timeout: Int64, _ event: UnsafeMutablePointer<sc_participant_event>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(event, "event")
        result.pointee = sc_participant_event()
        switch try Handles.find(participant, as: ParticipantObject.self).events.take(within: timeout) {
        case .nothing: return Answer.nothing
        case .ended: return Answer.ended
        case .event(let event):
            result.pointee = event.event
            return Answer.ok
        }
    }
}

@c @implementation public func sc_participant_event_free(
    _ event: UnsafeMutablePointer<sc_participant_event>?
) {
    guard let event, !ForkedChild.isCurrent else { return }
    Block.free(event.pointee.block)
    event.pointee = sc_participant_event()
}

@c @implementation public func sc_participant_end(
    _ participant: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try Handles.find(participant, as: ParticipantObject.self).end()
        return Answer.ok
    }
}

@c @implementation public func sc_executor_ask(
    _ executor: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?, _ timeout: Int64,
    _ request: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        let number = object.ask(executor, for: try messageID(id, sequence), within: timeout, insisting: false)
        request?.pointee = number
        return Answer.ok
    }
}

@c @implementation public func sc_executor_insist(
    _ executor: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?, _ timeout: Int64,
    _ request: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        let number = object.ask(executor, for: try messageID(id, sequence), within: timeout, insisting: true)
        request?.pointee = number
        return Answer.ok
    }
}

@c @implementation public func sc_executor_finish(
    _ executor: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, executor) = try CLibrary.executor(executor)
        Task.detached { [events = object.events] in
            await executor.finish()
            events.add(.finished)
        }
        return Answer.ok
    }
}

@c @implementation public func sc_taken_acknowledge(
    _ taken: UInt64, _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenObject.self)
        let wasOwn = try waitForParticipant { () async throws(CoordinationError) in
            try await object.executor.acknowledge(object.message)
        }
        _ = Handles.remove(taken)
        acknowledged?.pointee = wasOwn ? 1 : 0
        return Answer.ok
    }
}

@c @implementation public func sc_taken_give_back(
    _ taken: UInt64, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let object = try Handles.find(taken, as: TakenObject.self)
        try waitForParticipant { () async throws(CoordinationError) in
            try await object.executor.giveBack(object.message)
        }
        _ = Handles.remove(taken)
        return Answer.ok
    }
}

@c @implementation public func sc_main_acknowledge(
    _ main: UInt64, _ id: UnsafePointer<CChar>?, _ sequence: UnsafePointer<CChar>?,
    _ acknowledged: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (_, participant) = try CLibrary.main(main)
        let message = try messageID(id, sequence)
        let wasThere = try waitForParticipant { () async throws(CoordinationError) in
            try await participant.acknowledge(message)
        }
        acknowledged?.pointee = wasThere ? 1 : 0
        return Answer.ok
    }
}
