#if SIP
    public import CoreAPI
    internal import Platform

    /// An account at a SIP registrar, and how this program reaches it.
    ///
    /// ```swift
    /// let account = SIPAccount(
    ///     user: "alice", domain: "example.org", password: try SIPPassword(ofFile: "/etc/phone/password"),
    ///     registrar: "sip.example.org", port: 5061, transport: .tls(certificates: "/etc/phone/tls", name: "sip.example.org"),
    ///     instance: "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
    /// ```
    public struct SIPAccount: Sendable {
        /// How requests are carried.
        public enum Transport: Hashable, Sendable {
            case udp
            case tcp
            /// TLS. The registrar's certificate must be signed by one in `cafile.pem` of the folder, and be for the name.
            case tls(certificates: String, name: String)
        }

        /// The parameters of RFC 8599 with which a registrar wakes this program.
        public struct Push: Hashable, Sendable {
            /// `pn-provider`.
            public var provider: String
            /// `pn-prid`: this program at the provider.
            public var identifier: String
            /// `pn-param`; nil leaves it out.
            public var parameter: String?

            public init(provider: String, identifier: String, parameter: String? = nil) {
                self.provider = provider
                self.identifier = identifier
                self.parameter = parameter
            }
        }

        /// The user part of its address: letters, digits and `-_.+~`.
        public var user: String
        /// The domain part, which is also what is registered at.
        public var domain: String
        public var password: SIPPassword
        /// The host that requests are sent to: a name or an address.
        public var registrar: String
        public var port: UInt16
        public var transport: Transport
        /// The URN that tells this telephone from the others of the account (RFC 5626), the same in all processes of the group:
        /// by it a core removes the contact that a killed one has left.
        public var instance: String
        /// How the registrar wakes this program; nil where it does not.
        public var push: Push?
        /// How long a registration lasts. It is refreshed before.
        public var expires: Duration
        /// The own address; nil takes that of the route to the registrar.
        public var localAddress: String?

        public init(
            user: String, domain: String, password: SIPPassword, registrar: String, port: UInt16 = 5060,
            transport: Transport = .tcp, instance: String, push: Push? = nil, expires: Duration = .seconds(600),
            localAddress: String? = nil
        ) {
            self.user = user
            self.domain = domain
            self.password = password
            self.registrar = registrar
            self.port = port
            self.transport = transport
            self.instance = instance
            self.push = push
            self.expires = expires
            self.localAddress = localAddress
        }

        /// Its address of record, such as `sip:alice@example.org`.
        public var address: String { "sip:\(user)@\(domain)" }

        /// The rule that it breaks; nil where it breaks none. All of it gets into headers.
        var problem: String? {
            let pieces = [
                ("The user", user), ("The domain", domain), ("The registrar", registrar), ("The instance", instance),
                ("pn-provider", push?.provider ?? "-"), ("pn-prid", push?.identifier ?? "-"),
                ("pn-param", push?.parameter ?? "-"), ("The address", localAddress ?? "-"),
            ]
            for (name, text) in pieces where !(1...256).contains(text.utf8.count) || !text.utf8.allSatisfy(Self.isPlain)
            {
                return
                    "\(name) of a SIP account is 1 to 256 of letters, digits and -_.+~:%[], not “\(text.prefix(64))”."
            }
            if !instance.hasPrefix("urn:") { return "The instance of a SIP account is a URN, as urn:uuid:…" }
            if port == 0 { return "The port of a SIP account is not 0." }
            if !(.seconds(10)...Duration.seconds(86_400)).contains(expires) {
                return "A registration lasts 10 seconds to one day."
            }
            return nil
        }

        private static func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.+~:%[]".utf8.contains(byte)
            }
        }

        var contactParameters: String {
            guard let push else { return "" }
            let parameter = push.parameter.map { ";pn-param=" + $0 } ?? ""
            return ";pn-provider=\(push.provider);pn-prid=\(push.identifier)\(parameter)"
        }
    }

    /// A password. No description, dump or error shows it.
    public struct SIPPassword: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        let text: String

        public init(_ text: String) {
            self.text = text
        }

        /// Reads the first line of a file that belongs to this user and that no other user may read or write.
        ///
        /// - Throws: ``SharedCoreError/Code/forbidden`` for a file of another user or one with a wider mode than 600, and
        ///   ``SharedCoreError/Code/invalidArgument`` where there is none, or it is empty.
        public init(ofFile path: String) throws(SharedCoreError) {
            let bytes = try GuardedFile.read(path, forbidding: 0o077, "A password", right: "600")
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard !line.isEmpty, !line.contains(0) else {
                throw SharedCoreError(.invalidArgument, "The file's first line is no password.", at: path)
            }
            text = String(decoding: line, as: UTF8.self)
        }

        public var description: String { "a password" }
        public var debugDescription: String { description }
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
