// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI

// Source: contract C26.

@c @implementation public func sc_main_rest(_ main: UInt64, _ error: UnsafeMutablePointer<sc_error>?) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, main) = try CLibrary.main(main)
        object.tell { () async throws(CoordinationError) in
            try await main.rest()
        } then: {
            .rested($0)
        }
        return Answer.ok
    }
}

@c @implementation public func sc_main_resume(_ main: UInt64, _ error: UnsafeMutablePointer<sc_error>?) -> Int32 {
    boundary(error) { () throws(Failure) in
        let (object, main) = try CLibrary.main(main)
        object.tell { () async throws(CoordinationError) in
            try await main.resume()
        } then: {
            .resumed($0)
        }
        return Answer.ok
    }
}

@c @implementation public func sc_holder_open(
    _ group: UInt64, _ options: UnsafePointer<sc_participant_options>?, _ participant: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        try openParticipant(of: group, options, in: participant) { store, options, events throws(Failure) in
            let holder = try CLibrary.store { () throws(SharedCoreError) in
                try HolderParticipant(of: store, options: options)
            }
            try waitForParticipant { () async throws(CoordinationError) in try await holder.start() }
            return .holder(holder)
        }
    }
}

@c @implementation public func sc_core_rested(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?) -> Int32 {
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).answerRest(toResume: false)
        return Answer.ok
    }
}

@c @implementation public func sc_core_resumed(_ core: UInt64, _ error: UnsafeMutablePointer<sc_error>?) -> Int32 {
    boundary(error) { () throws(Failure) in
        try Handles.find(core, as: CoreObject.self).answerRest(toResume: true)
        return Answer.ok
    }
}
