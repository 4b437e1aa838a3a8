#if Etcd
    internal import CoreAPI
    package import CoreAPITesting
    package import EtcdBackend
    internal import Platform

    /// Runs the cases on groups of an etcd cluster, under a separate prefix.
    package struct EtcdHarness: ConformanceHarness {
        package let name: String
        package let peer: PeerProgram?
        private let place: EtcdCluster

        /// - Parameters:
        ///   - place: A cluster in which keys may be written and removed.
        ///   - peer: The program that acts as a second process.
        package init(at place: EtcdCluster, peer: PeerProgram?) {
            self.place = place
            self.peer = peer
            name = "etcd with \(place.endpoints.count) endpoint\(place.endpoints.count == 1 ? "" : "s")"
        }

        package var commitCost: CommitCost { .high }

        package var failPoints: FailPointSet {
            #if FAIL_POINTS
                FailPointSet(beforePublication: ["etcd.beforeSend"], afterPublication: ["etcd.afterAnswer"])
            #else
                FailPointSet()
            #endif
        }

        package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
            EtcdTestGroup(
                place: place, name: String(UInt64.random(in: 0...UInt64.max), radix: 36), settings: settings)
        }

        fileprivate static let prefix = "/sharedcore-conformance"

        /// The lease is long, because the cases stop participants for a long time. Scripts/try-etcd tests leases that
        /// end.
        fileprivate static let lease = Duration.seconds(600)
    }

    /// One group under a name of its own.
    private struct EtcdTestGroup: ConformanceGroup {
        let place: EtcdCluster
        let name: String
        let settings: GroupSettings

        var address: String {
            (["etcd", name] + place.endpoints.map(\.description) + EtcdHarness.words(of: place.security))
                .joined(separator: " ")
        }

        func open(
            _ description: SessionDescription, requiring requirements: Requirements
        ) async throws(SharedCoreError) -> any SharedGroup {
            try await EtcdGroup.open(place, group: name, as: description, options: options(requiring: requirements))
        }

        func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
            try await EtcdGroup.openToRead(place, group: name, as: description, options: options(requiring: .none))
        }

        private func options(requiring requirements: Requirements) -> EtcdGroupOptions {
            EtcdGroupOptions(
                prefix: EtcdHarness.prefix, lease: EtcdHarness.lease,
                limits: settings.limits ?? EtcdGroupOptions.standardLimits,
                historyByteCount: settings.historyByteCount ?? 1 << 20, requirements: requirements,
                clock: settings.clock ?? SystemClock())
        }

        func remove() async {
            // A group that could not be removed is harmless: each has its own name.
            try? await EtcdGroup.erase(name, at: place, prefix: EtcdHarness.prefix)
        }
    }

    extension EtcdHarness {
        /// Returns the words of an address that describe how connections are secured. A word has no spaces, unlike
        /// paths.
        fileprivate static func words(of security: EtcdCluster.Security?) -> [String] {
            guard let security else { return [] }
            let paths = [("ca", security.authorities), ("certificate", security.certificate), ("key", security.key)]
            return ["secure="]
                + paths.compactMap { name, path in
                    path.map {
                        "\(name)=" + $0.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
                    }
                }
        }

        private static func security(in words: ArraySlice<String>) -> EtcdCluster.Security? {
            guard words.contains("secure=") else { return nil }
            func path(_ name: String) -> String? {
                words.first { $0.hasPrefix(name + "=") }
                    .map { $0.dropFirst(name.count + 1).split(separator: "%20", omittingEmptySubsequences: false) }
                    .map { $0.joined(separator: " ") }
            }
            return EtcdCluster.Security(authorities: path("ca"), certificate: path("certificate"), key: path("key"))
        }

        /// Opens the group of an address that begins with `etcd`.
        static func open(
            _ words: ArraySlice<String>, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            guard let name = words.first else {
                throw SharedCoreError(.invalidArgument, "The address names no group.", at: "address")
            }
            var endpoints: [EtcdCluster.Endpoint] = []
            for word in words.dropFirst() where !word.contains("=") { endpoints.append(try EtcdCluster.Endpoint(word)) }
            return try await EtcdGroup.open(
                EtcdCluster(endpoints, security: security(in: words)), group: name, as: description,
                options: EtcdGroupOptions(prefix: prefix, lease: lease, requestTimeout: .seconds(60)))
        }
    }
#endif
