internal import Coordination
internal import CoreAPI

/// C25 on a group that carries the bytes of a baton to another machine: for which session it keeps them, and until
/// when.
enum BatonBytesCases {
    static let all = [fetching, keeping, ending]

    private static let bytes: [UInt8] = [7, 0, 255]

    static let fetching = ConformanceCase(
        "C25e", "the bytes of a baton are for the session that owns while it is offered, as often as it asks",
        promises: [.batonBytes]
    ) { context in
        try await context.withGroup { group in
            let (first, second, third) = (
                try await OwningSession(group, "A"), try await OwningSession(group, "B"),
                try await OwningSession(group, "C")
            )
            let epoch = try await first.own()
            try expect(try await first.keep(bytes, of: epoch), is: nil, "keeping")
            try expect(try await first.fetch(epoch, under: epoch), is: .refused(.guardFailed), "before the offer")
            try await first.offer(epoch)
            try expect(try await second.fetch(epoch, under: epoch), is: .refused(.guardFailed), "without ownership")
            let next = try await second.own()
            for time in ["once", "twice"] {
                try expect(try await second.fetch(epoch, under: next), is: .bytes(bytes), "the owner fetches \(time)")
            }
            try expect(try await third.fetch(epoch, under: next), is: .refused(.guardFailed), "under another's epoch")
            try expect(try await second.fetch(epoch, under: epoch), is: .refused(.guardFailed), "under a former epoch")
            try expect(try await second.fetch(next, under: next), is: .refused(.guardFailed), "of another epoch")
            let last = try await third.own()
            try expect(try await third.fetch(epoch, under: last), is: .bytes(bytes), "the next owner fetches")
            try expect(try await second.fetch(epoch, under: next), is: .refused(.guardFailed), "when superseded")
            try expect(try await first.fetch(epoch, under: last), is: .refused(.guardFailed), "as the old owner")
        }
    }

    static let keeping = ConformanceCase(
        "C25f", "only the owner of an epoch keeps a baton: one for each epoch, of 65,536 bytes at most",
        promises: [.batonBytes]
    ) { context in
        try await context.withGroup { group in
            let (first, second) = (try await OwningSession(group, "A"), try await OwningSession(group, "B"))
            let epoch = try await first.own()
            let other = Revision(rawValue: epoch.rawValue - 1)
            try expect(try await second.keep(bytes, of: epoch), is: .guardFailed, "by a session that does not own")
            try expect(try await first.keep(bytes, of: other), is: .guardFailed, "at another epoch")
            let full = [UInt8](repeating: 7, count: Baton.maximumByteCount)
            try expect(try await first.keep(full + [7], of: epoch), is: .limitExceeded, "one byte more than may be")
            try expect(
                try await first.keep(bytes, of: epoch, for: .milliseconds(999)), is: .invalidArgument,
                "for less than a second")
            try expect(
                try await first.keep(bytes, of: epoch, for: .milliseconds(60_001)), is: .invalidArgument,
                "for more than a minute")
            try expect(try await first.keep(full, of: epoch), is: nil, "as many bytes as may be")
            try expect(try await first.keep(full, of: epoch), is: nil, "the same again")
            try expect(try await first.keep(bytes, of: epoch), is: .invalidArgument, "other bytes of the epoch")
            try await first.offer(epoch)
            let next = try await second.own()
            try expect(try await second.fetch(epoch, under: next), is: .bytes(full), "what is kept")
            try expect(try await second.keep(bytes, of: next), is: .limitExceeded, "while another is offered")
            try expect(try await second.fetch(epoch, under: next), is: .bytes(full), "what is kept then")
            try await second.remove()
            try expect(try await second.keep(bytes, of: next), is: nil, "when that is over")
            let last = try await first.own()
            try expect(try await second.keep(bytes, of: next), is: .guardFailed, "when superseded")
            try expect(try await first.keep(bytes, of: last), is: nil, "at its next epoch")
        }
    }

    /// The ways in which a baton ends.
    private enum End: CaseIterable {
        case releasedWithoutOffer, sessionEnded, failed, removed, expired
    }

    static let ending = ConformanceCase(
        "C25g",
        "a baton is over when it fails, is removed or expires, and with an ownership that ends without an offer",
        promises: [.batonBytes]
    ) { context in
        for end in End.allCases {
            try await context.withGroup { group in
                let (first, second) = (try await OwningSession(group, "A"), try await OwningSession(group, "B"))
                let epoch = try await first.own()
                try expect(try await first.keep(bytes, of: epoch), is: nil, "keeping")
                switch end {
                case .releasedWithoutOffer: try await first.release()
                case .sessionEnded: await first.handle.close()
                case .failed, .removed: try await first.offer(epoch)
                case .expired: try await first.offer(epoch, for: .seconds(1))
                }
                let next = try await second.own()
                switch end {
                case .failed: try await second.write(epoch, state: 2)
                case .removed: try await second.remove()
                case .expired:
                    try await eventually("the record expires") {
                        try await second.handle.get(OwnershipKey.baton) == nil
                    }
                case .releasedWithoutOffer, .sessionEnded: break
                }
                // Another program may write such a record. It must not make the bytes available again.
                try await second.write(epoch, state: 1)
                try expect(
                    try await second.fetch(epoch, under: next), is: .bytes(nil), "the bytes of one that is \(end)")
            }
        }
    }

    /// The result of a fetch.
    private enum Fetched: Equatable {
        case bytes([UInt8]?)
        case refused(SharedCoreError.Code)
    }

    /// A session that writes the entries of ownership itself, without a participant.
    private struct OwningSession {
        let handle: any SharedGroup
        private let place: any BatonDepositing

        init(_ group: TestGroup, _ name: String) async throws {
            handle = try await group.open(name)
            place = try expectSome(handle as? any BatonDepositing, "what keeps batons, as the group promises")
        }

        /// Owns in place of the present owner.
        func own() async throws -> Revision {
            var transaction = Transaction()
            transaction.delete(OwnershipKey.owner)
            transaction.put(OwnershipKey.owner, [1], lifetime: .session)
            return try await handle.commit(transaction).revision
        }

        func release() async throws { try await handle.delete(OwnershipKey.owner) }

        func offer(_ epoch: Revision, for lifetime: Duration = .seconds(120)) async throws {
            var transaction = Transaction()
            transaction.delete(OwnershipKey.owner)
            transaction.put(OwnershipKey.baton, Self.record(epoch, state: 1), lifetime: .expiring(after: lifetime))
            _ = try await handle.commit(transaction)
        }

        func write(_ epoch: Revision, state: UInt8) async throws {
            try await handle.put(OwnershipKey.baton, Self.record(epoch, state: state))
        }

        func remove() async throws { try await handle.delete(OwnershipKey.baton) }

        func keep(
            _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration = .seconds(60)
        ) async throws -> SharedCoreError.Code? {
            try await code { try await place.keepBaton(bytes, of: epoch, for: lifetime) }
        }

        func fetch(_ epoch: Revision, under own: Revision) async throws -> Fetched {
            switch try await attempt({ try await place.fetchBaton(of: epoch, under: own) }) {
            case .success(let bytes): .bytes(bytes)
            case .failure(let error): .refused(error.code)
            }
        }

        /// Returns the beginning that all versions of the record have.
        private static func record(_ epoch: Revision, state: UInt8) -> [UInt8] {
            var writer = ByteWriter()
            writer.byte(1)
            writer.integer(epoch.rawValue)
            writer.byte(state)
            return writer.bytes
        }
    }
}
