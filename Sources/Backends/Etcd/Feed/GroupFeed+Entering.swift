#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import Platform

    extension GroupFeed {
        /// Opens a session, and creates the group if it does not exist.
        ///
        /// - Returns: The revision of the opening.
        func enter(_ record: SessionRecord, lease: Int64) async throws(SharedCoreError) -> Int64 {
            let key = keys.session(lease)
            let head = HeadRecord(.opened, of: SessionID(rawValue: 0), at: Moment(now: clock))
            let steps: [Etcdserverpb_RequestOp] = [.put(key, record.bytes, lease: lease), .put(keys.head, head.bytes)]
            let layout = Keyspace.layoutVersion
            for _ in 0..<3 {
                let isKnown =
                    EtcdDefect.anyLayout.isPresent
                    ? Etcdserverpb_Compare.exists(keys.layout) : .value(keys.layout, is: layout)
                let request = Etcdserverpb_TxnRequest.make(
                    if: [isKnown, .absent(key)], then: steps,
                    else: [.get(keys.layout), .get(key)])
                let answer = try await cluster.transaction(request, timeout: settings.requestTimeout, at: "open")
                if answer.succeeded { return answer.header.revision }
                let found = FoundKeys(answer.responses)
                // An earlier attempt has succeeded, but its answer was lost.
                if let pair = found[key] { return pair.createRevision }
                if let pair = found[keys.layout] {
                    guard pair.value == layout else { throw .unknownLayout }
                    continue
                }
                let first = Etcdserverpb_TxnRequest.make(
                    if: [.absent(keys.layout)], then: [.put(keys.layout, layout)] + steps)
                let made = try await cluster.transaction(first, timeout: settings.requestTimeout, at: "open")
                if made.succeeded { return made.header.revision }
            }
            throw SharedCoreError(.unavailable, "The group could not be opened.", at: "etcd")
        }
    }
#endif
