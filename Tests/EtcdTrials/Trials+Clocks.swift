#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Platform

    extension Trials {
        /// The expiry of an entry for later readers.
        ///
        /// On the writer's machine it expires by the time since it was written. On another machine, with another clock,
        /// it expires after its full duration.
        func twoClocks() async throws -> String {
            let node = try cluster.alone("clocks", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            let writer = try await cluster.open("writer", at: place)
            try await writer.put("brief", [1], lifetime: .expiring(after: .seconds(60)))
            let record = WatchRecord(try await writer.watch("brief"))
            let own = SystemClock().bootID
            let elsewhere = BootID(high: ~own.high, low: own.low)
            let other = try await EtcdGroup.open(
                place, group: cluster.group, options: EtcdGroupOptions(clock: HourAhead(bootID: elsewhere)))
            let there = try await other.get("brief")
            try expect(there != nil, "another machine's clock ends an entry before its time")
            await other.close()
            // An hour later where it was written.
            let later = try await EtcdGroup.open(
                place, group: cluster.group, options: EtcdGroupOptions(clock: HourAhead(bootID: own)))
            let entry = try await later.get("brief")
            try expect(entry == nil, "an entry outlives its time on the machine where it was written")
            try await eventually("the writer is told") { record.breach != nil || record.entries["brief"] == nil }
            try expect(record.breach == nil, record.breach ?? "")
            await later.close()
            await writer.close()
            return "its full duration elsewhere, the rest of it here"
        }
    }

    /// A clock that is an hour ahead of this machine's. A class, so that each is another one to the handles that share
    /// a feed.
    private final class HourAhead: TimeSource {
        let bootID: BootID
        private static let nanoseconds: UInt64 = 3_600_000_000_000

        init(bootID: BootID) {
            self.bootID = bootID
        }

        func now() -> BootInstant { BootInstant(nanoseconds: SystemClock().now().nanoseconds + Self.nanoseconds) }

        func sleep(until instant: BootInstant) async throws(CancellationError) {
            try await SystemClock().sleep(
                until: BootInstant(nanoseconds: instant.nanoseconds - min(Self.nanoseconds, instant.nanoseconds)))
        }
    }
#endif
