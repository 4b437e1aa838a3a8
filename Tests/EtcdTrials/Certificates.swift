#if Etcd
    internal import EtcdBackend
    internal import Platform
    internal import TestSupport

    /// The certificates of a cluster and of its clients, and those of strangers: made for a day, by openssl.
    struct Certificates {
        /// The signer of a certificate.
        enum Authority: String, CaseIterable {
            case own, other
        }

        let directory: String

        init(in directory: String) async throws {
            self.directory = directory
            for authority in Authority.allCases {
                try await make(authority.rawValue, ["-subj", "/CN=\(authority)"])
            }
            try await make("member", ["-subj", "/CN=member", "-addext", "subjectAltName=IP:127.0.0.1"], by: .own)
            try await make("elsewhere", ["-subj", "/CN=member", "-addext", "subjectAltName=IP:192.0.2.1"], by: .own)
            try await make("client", ["-subj", "/CN=client"], by: .own)
            try await make("stranger", ["-subj", "/CN=client"], by: .other)
        }

        func certificate(_ name: String) -> String { "\(directory)/\(name).pem" }
        func key(_ name: String) -> String { "\(directory)/\(name).key" }

        /// The arguments by which a member shows its certificate and lets in clients with one.
        func arguments(showing name: String) -> [String] {
            [
                "--cert-file", certificate(name), "--key-file", key(name), "--client-cert-auth", "--trusted-ca-file",
                certificate("own"),
            ]
        }

        /// The certificates of a client.
        func security(showing name: String?, believing authority: Authority = .own) -> EtcdCluster.Security {
            EtcdCluster.Security(
                authorities: certificate(authority.rawValue), certificate: name.map(certificate), key: name.map(key))
        }

        private func make(_ name: String, _ words: [String], by authority: Authority? = nil) async throws {
            let signing = authority.map {
                ["-CA", certificate($0.rawValue), "-CAkey", key($0.rawValue), "-addext", "basicConstraints=CA:FALSE"]
            }
            let program = try ChildProcess(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                    "-keyout", key(name), "-out", certificate(name),
                ] + words + (signing ?? []), errors: "\(directory)/openssl.log")
            let end = await program.end()
            try expect(end == .exited(0), "openssl makes no certificate “\(name)”: \(end)")
        }
    }
#endif
