#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform
    internal import TestSupport

    extension Trials {
        /// Members that require a certificate: they let in clients with one, and no others.
        func secured() async throws -> String {
            let directory = try cluster.subdirectory("secured")
            let certificates = try await Certificates(in: directory)
            let secured = try await TrialCluster(
                program: cluster.program, in: directory, certificates: certificates)
            defer { for node in secured.nodes { node.kill() } }
            secured.takeNewGroup()
            let told = try await Trials(cluster: secured, own: own).eachInTurn {
                $0.kill()
            } after: {
                try $0.start()
            }
            let refusedCount = try await refused(by: secured, certificates)
            // The cases of S15 are run with second processes.
            for words in [["demo"], ["conformance", "--only", "S15"]] {
                try await play(words, at: secured, certificates)
            }
            return "\(told), \(refusedCount) kinds of strangers refused"
        }

        /// A client without a valid certificate, and one that meets a member without a valid certificate, is refused
        /// with a message.
        private func refused(by secured: TrialCluster, _ certificates: Certificates) async throws -> Int {
            let elsewhere = try secured.alone(
                "elsewhere", isSecure: true, certificates.arguments(showing: "elsewhere"))
            defer { elsewhere.kill() }
            let door = secured.nodes[0].endpoint
            let attempts: [(String, EtcdCluster.Endpoint, EtcdCluster.Security?, cause: String)] = [
                ("without a certificate", door, certificates.security(showing: nil), "CERTIFICATE"),
                ("with a stranger's certificate", door, certificates.security(showing: "stranger"), "CERTIFICATE"),
                ("in the clear", door, nil, "closed"),
                (
                    "believing another authority", door, certificates.security(showing: "client", believing: .other),
                    "CERTIFICATE_VERIFY_FAILED"
                ),
                (
                    "to a member of another name", elsewhere.endpoint, certificates.security(showing: "client"),
                    "failedToValidateHostname"
                ),
            ]
            let keeper = try await secured.open("keeper")
            let port = UInt16(elsewhere.endpoint.port)
            try await eventually("the member of another name listens") {
                try await OwnedThread.start("look") {
                    ListeningPort.answers("127.0.0.1", port, timeout: .seconds(1))
                } then: { _ in
                }
            }
            for (what, endpoint, security, cause) in attempts {
                let start = ContinuousClock.now
                do throws(SharedCoreError) {
                    let group = try await EtcdGroup.open(
                        EtcdCluster([endpoint], security: security), group: secured.group,
                        options: EtcdGroupOptions(requestTimeout: .seconds(3)))
                    await group.close()
                    throw SharedCoreError(.system, "Somebody was let in.", at: what)
                } catch {
                    try expect([.unavailable, .forbidden].contains(error.code), "\(what): \(error)")
                    try expect(error.cause?.contains(cause) == true, "\(what), no word of “\(cause)”: \(error)")
                    try expect(start.duration(to: .now) < .seconds(15), "\(what): after \(start.duration(to: .now))")
                }
            }
            try await refusedKeys(certificates, at: secured, door)
            let sessions = try await keeper.sessions().map(\.name)
            try expect(sessions == ["keeper"], "there are sessions of \(sessions)")
            await keeper.close()
            return attempts.count
        }

        /// A key that others may read is refused before any member is asked, and taken again when it is the user's own.
        private func refusedKeys(
            _ certificates: Certificates, at secured: TrialCluster, _ door: EtcdCluster.Endpoint
        ) async throws {
            let security = certificates.security(showing: "client")
            let key = certificates.key("client")
            for (mode, code) in [(0o640, .forbidden), (0o604, .forbidden), (0o600, nil)]
                as [(mode_t, SharedCoreError.Code?)]
            {
                try expect(chmod(key, mode) == 0, "the mode of \(key) is changed")
                var refusal: SharedCoreError?
                do throws(SharedCoreError) {
                    // A cluster value of its own: that of the other groups has a connection that has read the key
                    // already.
                    let place = try EtcdCluster([door, door], security: security)
                    try await EtcdGroup.open(place, group: secured.group).close()
                } catch {
                    refusal = error
                }
                try expect(
                    refusal?.code == code,
                    "a key of mode \(String(mode, radix: 8)): \(refusal?.description ?? "taken")")
            }
        }

        /// Runs a command of the program on the secured members.
        private func play(_ words: [String], at secured: TrialCluster, _ certificates: Certificates) async throws {
            let program = try ChildProcess(
                "timeout",
                ["240", OwnProgram.sibling("sharedcore"), "--json", "--backend", "etcd"] + words,
                environment: [
                    "SHAREDCORE_ETCD_ENDPOINTS": secured.place.endpoints.map(\.description).joined(separator: ","),
                    "SHAREDCORE_ETCD_TLS_CA": certificates.certificate("own"),
                    "SHAREDCORE_ETCD_TLS_CERTIFICATE": certificates.certificate("client"),
                    "SHAREDCORE_ETCD_TLS_KEY": certificates.key("client"),
                ])
            let end = await program.end()
            try expect(
                end == .exited(0), "\(words.joined(separator: " ")): \(end), \(program.lines.suffix(3))")
        }
    }
#endif
