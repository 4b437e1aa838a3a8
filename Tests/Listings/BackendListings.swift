internal import CoreAPI
internal import FileNotifyBackend

func members(in directory: String) async throws -> Snapshot {
    let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .tool))
    let members = try await withGroup(group) { try await $0.list("members") }  // closed on every path
    return members
}

func openRelying(on directory: String) async throws -> any SharedGroup {
    let group = try await FileGroup.open(
        directory: directory, as: SessionDescription(role: .executor),
        options: FileGroupOptions(
            requirements: Requirements(features: [.promptDeathNotice, .deduplicatedRequests], durability: .process)))
    return group
}
