internal import CoreAPI

func announce(_ contact: String, in group: any SharedGroup) async throws {
    var transaction = Transaction()
    transaction.put(try Key("contacts/\(contact)"), Array("online".utf8))
    transaction.post("contacts-changed")
    _ = try await group.commit(transaction)
}

func follow(_ group: any SharedGroup) async throws {
    for try await event in try await group.watch("contacts") {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot): print("stands now:", snapshot.entries.map(\.key))
        case .changes(let set): print("revision \(set.revision):", set.changes.map(\.key))
        }
    }
}

func holdAndWrite(_ bytes: [UInt8], in group: any SharedGroup) async throws {
    var acquiring = Transaction()
    acquiring.require(.absent("owner"))  // guardFailed if there is an owner
    acquiring.put("owner", [], lifetime: .session)  // the entry ends with this session
    let epoch = try await group.commit(acquiring).revision  // its creation revision

    var writing = Transaction()
    writing.require(.epoch("owner", epoch))  // "owner" must still be the entry of that revision
    writing.put("result", bytes)
    _ = try await group.commit(writing)  // guardFailed once that entry has ended
}

func save(_ bytes: [UInt8], in group: any SharedGroup, tellUser: (String) -> Void) async throws {
    do {
        try await group.put("settings", bytes)
    } catch {
        guard error.code == .storageFull else { throw error }
        tellUser("There is no space left: \(error.message)")
    }
}
