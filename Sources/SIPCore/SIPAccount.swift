#if SIP
    public import CoreAPI
    internal import Platform

    /// An account at a SIP registrar, and the way to reach the registrar.
    ///
    /// ``SIPTelephone/init(_:onEvent:)`` checks it. The password and the texts of ``Transport/tls(certificates:name:)``
    /// may have any characters. Each other text has 1 to 256 letters, digits and marks. The marks are `.-:` in
    /// `domain`, `registrar` and `localAddress`, and `-_.!~*'%+` in the others. `instance` and the last two texts of
    /// ``Push`` may also have `:`. Other bytes of a URI are written as `%` and two hexadecimal digits.
    ///
    /// ```swift
    /// let account = SIPAccount(
    ///     user: "alice", domain: "example.org", password: try SIPPassword(ofFile: "/etc/phone/password"),
    ///     registrar: "sip.example.org", port: 5061, transport: .tls(certificates: "/etc/phone/tls", name: "sip.example.org"),
    ///     instance: "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
    /// ```
    public struct SIPAccount: Sendable {
        /// The transport of the requests.
        public enum Transport: Hashable, Sendable {
            /// UDP, without encryption.
            case udp
            /// TCP, without encryption. The registrar sends over the connection of the registration.
            case tcp
            /// TLS. The registrar's certificate must be signed by one in `cafile.pem` of the folder `certificates`, and be for
            /// `name`.
            case tls(certificates: String, name: String)
        }

        /// The parameters of the Contact with which the registrar wakes this program.
        ///
        /// Source: RFC 8599.
        public struct Push: Hashable, Sendable {
            /// `pn-provider`.
            public var provider: String
            /// `pn-prid`: the identifier of this program at the provider.
            public var identifier: String
            /// `pn-param`; nil leaves it out.
            public var parameter: String?

            /// Makes the parameters of a Contact.
            public init(provider: String, identifier: String, parameter: String? = nil) {
                self.provider = provider
                self.identifier = identifier
                self.parameter = parameter
            }
        }

        /// The user part of the address of record.
        public var user: String
        /// The domain part of the address of record. The request URI of a REGISTER is `sip:` and the domain.
        public var domain: String
        /// The password for digest authentication.
        public var password: SIPPassword
        /// The host that requests are sent to: a name or a numeric address.
        public var registrar: String
        /// The port of the registrar; not 0.
        public var port: UInt16
        /// The transport of the requests.
        public var transport: Transport
        /// The URN that distinguishes this telephone from the others of the account. All processes of the group give the
        /// same URN: by it a core finds and removes the contact that a killed process has left.
        ///
        /// Source: RFC 5626.
        public var instance: String
        /// The parameters for a push; nil if the registrar sends none.
        public var push: Push?
        /// The lifetime of a registration, in whole seconds: 10 s to one day. The core refreshes it before its end.
        public var expires: Duration
        /// The numeric address of this machine in Contact and SDP; nil for the local address of the route to the registrar.
        public var localAddress: String?

        /// Makes an account. The parameters are the properties.
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

        /// The address of record, such as `sip:alice@example.org`.
        public var address: String { "sip:\(user)@\(domain)" }

        /// The rule that the account breaks; nil for none. The texts are written into headers and URIs, so none may have a
        /// separator of those.
        var problem: String? {
            let host = ".-:"
            let token = "-_.!~*'%+"
            let pieces = [
                ("The user", user, token), ("The domain", domain, host), ("The registrar", registrar, host),
                ("The address", localAddress ?? "-", host), ("The instance", instance, token + ":"),
                ("pn-provider", push?.provider ?? "-", token), ("pn-prid", push?.identifier ?? "-", token + ":"),
                ("pn-param", push?.parameter ?? "-", token + ":"),
            ]
            for (name, text, marks) in pieces {
                let isPlain = text.utf8.allSatisfy { Self.isLetterOrDigit($0) || marks.utf8.contains($0) }
                if isPlain, (1...256).contains(text.utf8.count) { continue }
                return "\(name) of a SIP account is 1 to 256 of letters, digits and \(marks), not “\(text.prefix(64))”."
            }
            if !instance.hasPrefix("urn:") { return "The instance of a SIP account is a URN, as urn:uuid:…" }
            if port == 0 { return "The port of a SIP account is not 0." }
            if !(.seconds(10)...Duration.seconds(86_400)).contains(expires) {
                return "A registration lasts 10 seconds to one day."
            }
            return nil
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }

        /// The parameters of ``push`` as they are appended to the Contact URI.
        var contactParameters: String {
            guard let push else { return "" }
            let parameter = push.parameter.map { ";pn-param=" + $0 } ?? ""
            return ";pn-provider=\(push.provider);pn-prid=\(push.identifier)\(parameter)"
        }
    }

    /// A password. Its description, its debug description and its mirror do not show it.
    public struct SIPPassword: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        let text: String

        /// Makes a password of a text, for example from a keyring.
        public init(_ text: String) {
            self.text = text
        }

        /// Reads the first line of a file that belongs to this user and that no other user may read or write.
        ///
        /// - Throws: ``SharedCoreError/Code/forbidden`` for a file of another user or one with a wider mode than 600, and
        ///   ``SharedCoreError/Code/invalidArgument`` if the file is absent, or its first line is empty or has a NUL.
        public init(ofFile path: String) throws(SharedCoreError) {
            let bytes = try GuardedFile.read(path, forbidding: 0o077, "A password", right: "600")
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            guard !line.isEmpty, !line.contains(0) else {
                throw SharedCoreError(
                    .invalidArgument, "The file's first line is not a password: it is empty, or contains a NUL.",
                    at: path)
            }
            text = String(decoding: line, as: UTF8.self)
        }

        public var description: String { "a password" }
        public var debugDescription: String { description }
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
