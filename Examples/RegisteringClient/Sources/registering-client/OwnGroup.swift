internal import Coordination
internal import CoreAPI
internal import InMemoryBackend

/// The group of the telephone: the telephone, and a holder that owns for it while it sleeps.
///
/// It is in memory, since all of it is in this process. An application opens the group that its configuration names; there the host, or
/// `sharedcore-holder`, is the holder.
struct OwnGroup {
    let main: MemoryGroup
    private let holder: HolderParticipant

    init() async throws {
        let space = MemorySpace()
        main = try await space.open("telephone", as: SessionDescription(role: .main, name: "telephone"))
        holder = try HolderParticipant(
            of: try await space.open("telephone", as: SessionDescription(role: .tool, name: "holder")))
        try await holder.start()
    }

    /// The owner of the core, for people.
    var owner: String {
        get async throws {
            guard let owner = try await GroupOwner.current(in: main) else { return "none" }
            return owner.session == main.session.id ? "the telephone" : "the holder, for the telephone"
        }
    }
}
