internal import CZMQ
public import CoreAPI

/// A pair of keys of the CURVE mechanism (RFC 26 of ZeroMQ), each as 40 characters of Z85 (RFC 32).
public struct CurveKeyPair: Hashable, Sendable {
    /// What others know.
    public let publicKey: String
    /// What nobody else knows.
    public let secretKey: String

    /// Takes over a pair.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when one of them is no key, or they do not belong together.
    public init(publicKey: String, secretKey: String) throws(SharedCoreError) {
        try Self.check(publicKey, "public key")
        try Self.check(secretKey, "secret key")
        guard Self.publicKey(of: secretKey) == publicKey else {
            throw SharedCoreError(
                .invalidArgument, "The public key does not belong to the secret key.", at: publicKey)
        }
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    /// Makes the pair of a secret key.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when it is no key.
    public init(secretKey: String) throws(SharedCoreError) {
        try Self.check(secretKey, "secret key")
        self.secretKey = secretKey
        publicKey = Self.publicKey(of: secretKey)
    }

    /// Makes a new pair.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when the library was built without CURVE.
    public static func generate() throws(SharedCoreError) -> CurveKeyPair {
        var publicText = [CChar](repeating: 0, count: 41)
        var secretText = [CChar](repeating: 0, count: 41)
        guard zmq_curve_keypair(&publicText, &secretText) == 0 else {
            throw SharedCoreError(
                .unsupported, "The messaging library of this system was built without CURVE.", at: "CURVE")
        }
        return try CurveKeyPair(publicKey: text(publicText), secretKey: text(secretText))
    }

    private static func publicKey(of secretKey: String) -> String {
        var publicText = [CChar](repeating: 0, count: 41)
        guard zmq_curve_public(&publicText, secretKey) == 0 else { return "" }
        return text(publicText)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix(40).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a text has the form of a key.
    static func isKey(_ text: String) -> Bool {
        var raw = [UInt8](repeating: 0, count: 32)
        return text.utf8.count == 40 && zmq_z85_decode(&raw, text) != nil
    }

    /// Refuses what is no key. A secret is never part of the message.
    static func check(_ key: String, _ what: String) throws(SharedCoreError) {
        guard isKey(key) else {
            throw SharedCoreError(
                .invalidArgument, "A \(what) is 40 characters of Z85, this one is not.", at: what)
        }
    }

    /// 32 bytes as the key that stands for them.
    static func text(of raw: [UInt8]) -> String? {
        guard raw.count == 32 else { return nil }
        var characters = [CChar](repeating: 0, count: 41)
        guard zmq_z85_encode(&characters, raw, 32) != nil else { return nil }
        return text(characters)
    }
}

/// The keys of a client that reaches its hub over a network.
public struct CurveClientKeys: Hashable, Sendable {
    /// The client's own.
    public let own: CurveKeyPair
    /// The public key by which the hub is known.
    public let hub: String

    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when the hub's key is none.
    public init(own: CurveKeyPair, hub: String) throws(SharedCoreError) {
        try CurveKeyPair.check(hub, "public key of the hub")
        self.own = own
        self.hub = hub
    }
}

/// What the clients with a key may do in the group.
public enum ClientRights: String, CaseIterable, Hashable, Sendable {
    /// Read, watch and listen, in any role but that of a Main or an Executor. Their commits, and a session of such a role, are
    /// refused as ``SharedCoreError/Code/forbidden``.
    case read
    /// That, and post notifications: commits of posts alone, with guards or with a request number.
    case post
    /// Everything.
    case participate
}

/// The keys of a hub that is reached over a network.
public struct CurveHubKeys: Hashable, Sendable {
    /// The hub's own.
    public let own: CurveKeyPair
    /// The public keys of the clients that it lets in, and what each may do.
    public let clients: [String: ClientRights]

    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when a client's key is none, or there is no client.
    public init(own: CurveKeyPair, clients: [String: ClientRights]) throws(SharedCoreError) {
        guard !clients.isEmpty else {
            throw SharedCoreError(
                .invalidArgument, "A hub on a network needs the public key of one client at least.", at: "client keys")
        }
        for key in clients.keys { try CurveKeyPair.check(key, "public key of a client") }
        self.own = own
        self.clients = clients
    }

    /// Lets clients in that may do everything.
    ///
    /// - Throws: As ``init(own:clients:)``.
    public init(own: CurveKeyPair, clients: Set<String>) throws(SharedCoreError) {
        try self.init(own: own, clients: Dictionary(uniqueKeysWithValues: clients.map { ($0, .participate) }))
    }
}
