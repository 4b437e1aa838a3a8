internal import CZMQ
public import CoreAPI

/// A pair of keys of the CURVE mechanism (RFC 26 of ZeroMQ), each as 40 characters of Z85 (RFC 32).
public struct CurveKeyPair: Hashable, Sendable {
    /// The key that others know.
    public let publicKey: String
    /// The key that only its owner knows.
    public let secretKey: String

    /// Creates a pair from both keys.
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

    /// Creates the pair of a secret key.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when it is no key.
    public init(secretKey: String) throws(SharedCoreError) {
        try Self.check(secretKey, "secret key")
        self.secretKey = secretKey
        publicKey = Self.publicKey(of: secretKey)
    }

    /// Generates a new pair.
    ///
    /// - Throws: ``SharedCoreError/Code/unsupported`` when the messaging library is not there or was built without CURVE.
    public static func generate() throws(SharedCoreError) -> CurveKeyPair {
        if let missing = SharedCoreError.missingLibrary(at: "CURVE") { throw missing }
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

    /// Returns whether a text has the form of a key.
    static func isKey(_ text: String) -> Bool {
        var raw = [UInt8](repeating: 0, count: 32)
        return text.utf8.count == 40 && zmq_z85_decode(&raw, text) != nil
    }

    /// Throws if a text is no key. The message never contains a secret key.
    static func check(_ key: String, _ what: String) throws(SharedCoreError) {
        if let missing = SharedCoreError.missingLibrary(at: what) { throw missing }
        guard isKey(key) else {
            throw SharedCoreError(
                .invalidArgument, "A \(what) is 40 characters of Z85, this one is not.", at: what)
        }
    }

    /// Returns the key text of 32 bytes.
    static func text(of raw: [UInt8]) -> String? {
        guard raw.count == 32 else { return nil }
        var characters = [CChar](repeating: 0, count: 41)
        guard zmq_z85_encode(&characters, raw, 32) != nil else { return nil }
        return text(characters)
    }
}

/// The keys of a client that reaches its hub over a network.
public struct CurveClientKeys: Hashable, Sendable {
    /// The client's own pair.
    public let own: CurveKeyPair
    /// The public key that identifies the hub.
    public let hub: String

    /// Makes the keys of a client: its own pair, and the public key of the hub.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when the hub's key is no key.
    public init(own: CurveKeyPair, hub: String) throws(SharedCoreError) {
        try CurveKeyPair.check(hub, "public key of the hub")
        self.own = own
        self.hub = hub
    }
}

/// The rights of the clients with a key in the group.
public enum ClientRights: String, CaseIterable, Hashable, Sendable {
    /// Read, watch and listen, in any role other than Main and Executor. Commits, and sessions of these two roles, are
    /// refused as ``SharedCoreError/Code/forbidden``.
    case read
    /// The same as ``read``, and post notifications: commits that contain only posts, with guards or with a request
    /// number.
    case post
    /// All rights.
    case participate
}

/// The keys of a hub that is reached over a network.
public struct CurveHubKeys: Hashable, Sendable {
    /// The hub's own pair.
    public let own: CurveKeyPair
    /// The public keys of the allowed clients, with the rights of each.
    public let clients: [String: ClientRights]

    /// Makes the keys of a hub: its own pair, and the public keys of its clients with their rights.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when a client's key is no key, or there is no client.
    public init(own: CurveKeyPair, clients: [String: ClientRights]) throws(SharedCoreError) {
        guard !clients.isEmpty else {
            throw SharedCoreError(
                .invalidArgument, "A hub on a network needs the public key of one client at least.", at: "client keys")
        }
        for key in clients.keys { try CurveKeyPair.check(key, "public key of a client") }
        self.own = own
        self.clients = clients
    }

    /// Allows clients with all rights.
    ///
    /// - Throws: As ``init(own:clients:)``.
    public init(own: CurveKeyPair, clients: Set<String>) throws(SharedCoreError) {
        try self.init(own: own, clients: Dictionary(uniqueKeysWithValues: clients.map { ($0, .participate) }))
    }
}
