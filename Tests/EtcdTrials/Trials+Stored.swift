#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Platform
    internal import Synchronization

    extension Trials {
        /// The state that others have left in the cluster: another version, a hand on the keys, a machine without a
        /// name.
        func leftByOthers() async throws -> String {
            try await parts([
                ("another layout", anotherLayout), ("an entry that nobody wrote", unreadableEntry),
                ("a run of a machine without a name", namelessBoot),
            ])
        }

        private func bare() throws -> BareCalls {
            try BareCalls(at: cluster.place, below: "/sharedcore\0\(cluster.group)/")
        }

        private func anotherLayout() async throws {
            cluster.takeNewGroup()
            let group = try await cluster.open("first")
            try await group.put("kept", [1])
            await group.close()
            let bare = try bare()
            // Keys that look like leftovers may have a meaning in a group that is not ours.
            try await bare.put("c/gone", [])
            try await bare.put("v/", Array("2".utf8))
            do throws(SharedCoreError) {
                _ = try await EtcdGroup.open(cluster.place, group: cluster.group)
                throw SharedCoreError(.system, "A group in another layout was opened.", at: "trial")
            } catch {
                try expect(error.code == .incompatible, "a group in another layout: \(error)")
            }
            let kept = try await bare.get("c/gone")
            try expect(kept != nil, "who was refused has removed a key")
            try await bare.put("v/", Array("1".utf8))
            let back = try await cluster.open("back")
            let sessions = try await back.sessions().count
            try expect(sessions == 1, "who was refused has left a session")
            await back.close()
        }

        /// Processes that follow the group end with `corrupt`, also while their commits wait for updates; no answer is
        /// wrong.
        private func unreadableEntry() async throws {
            cluster.takeNewGroup()
            let first = try await cluster.open("first")
            let second = try await cluster.open("second")
            let ended = Mutex<SharedCoreError?>(nil)
            let watch = try await second.watch(.all, from: .now)
            let watching = Task {
                do { while try await watch.next() != nil {} } catch {
                    ended.withLock { $0 = error as? SharedCoreError }
                }
            }
            let committing = Task {
                var taken: [Key: Revision] = [:]
                for number in 0... {
                    let key = try Key("k/\(number)")
                    do throws(SharedCoreError) {
                        taken[key] = try await first.put(key, [1]).revision
                    } catch {
                        return (taken: taken, last: key, error: error)
                    }
                }
                throw TrialFailure(description: "commits go on for ever")
            }
            let bare = try bare()
            try await eventually("commits are on their way") { try await second.get("k/20") != nil }
            try await bare.put("e/bad", [9, 9])
            try await eventually("the watch ends", timeout: .seconds(20)) { ended.withLock { $0 } != nil }
            await watching.value
            try expect(
                ended.withLock { $0?.code } == .corrupt, "the watch: \(ended.withLock { $0?.description } ?? "")")
            let (taken, last, error) = try await committing.value
            // The commit was accepted, and no process is there that could report it; or the end of the updates came
            // before.
            try expect([.outcomeUnknown, .corrupt].contains(error.code), "a commit: \(error)")
            try await requireCorrupt("a read") { _ = try await second.get("k/0") }
            await close([first, second])
            try await requireCorrupt("an opening") { _ = try await self.cluster.open("late") }
            try await bare.delete("e/bad")
            let after = try await cluster.open("after")
            let standing = try await after.list("k").entries
            var known = taken
            if error.code == .outcomeUnknown, let entry = standing.first(where: { $0.key == last }) {
                known[last] = entry.revision
            }
            try expect(
                known == Dictionary(uniqueKeysWithValues: standing.map { ($0.key, $0.revision) }),
                "\(known.count) commits are known, \(standing.count) stand")
            await after.close()
        }

        private func requireCorrupt(_ what: String, _ body: () async throws -> Void) async throws {
            do {
                try await body()
            } catch {
                return try expect((error as? SharedCoreError)?.code == .corrupt, "\(what): \(error)")
            }
            throw TrialFailure(description: "\(what) meets an entry that nobody wrote, and goes on")
        }

        /// If the system has no name for its run, an entry keeps its full duration there: the clocks of two such runs
        /// cannot be compared.
        private func namelessBoot() async throws {
            cluster.takeNewGroup()
            let early = try await open(with: NamelessClock(ahead: .zero))
            try await early.put("brief", [1], lifetime: .expiring(after: .seconds(60)))
            let late = try await open(with: NamelessClock(ahead: .seconds(3600)))
            let entry = try await late.get("brief")
            try expect(entry != nil, "an entry of one minute has expired at once by another machine's clock")
            await close([early, late])
        }

        private func open(with clock: NamelessClock) async throws -> EtcdGroup {
            try await EtcdGroup.open(cluster.place, group: cluster.group, options: EtcdGroupOptions(clock: clock))
        }
    }

    /// The clock of a system that has no name for its run.
    private final class NamelessClock: TimeSource {
        let bootID = BootID(high: 0, low: 0)
        private let ahead: Duration
        private let clock = SystemClock()

        init(ahead: Duration) {
            self.ahead = ahead
        }

        func now() -> BootInstant { clock.now().advanced(by: ahead) }

        func sleep(until instant: BootInstant) async throws(CancellationError) {
            try await clock.sleep(until: instant.advanced(by: .zero - ahead))
        }
    }
#endif
