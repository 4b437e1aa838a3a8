internal import Coordination
internal import CoreAPI

/// The process that owns for a Main that rests; a real system has `sharedcore serve` or `sharedcore-holder` in its place.
enum HolderProgram {
    static func run(in directory: String) async throws {
        let group = try await Softphone.open(directory, as: .tool)
        let holder = try HolderParticipant(of: group, options: Softphone.options)
        try await holder.start()
        Softphone.say("holds")
        for await _ in Keyboard.lines() {}
        await holder.stop()
        await group.close()
    }
}
