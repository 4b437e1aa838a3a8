internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Admits the browser that has exchanged the token of the printed address, once, for a cookie and a key.
///
/// A browser sends the cookie to every port of a host, so that a server of another user could get it. The key is sent
/// by the page alone, to the one port that it came from.
final class Access: Sendable {
    private struct State {
        var token: String
        /// When the token ends.
        var end: BootInstant
        var isUsed = false
        /// The cookie and the key of the browser that has exchanged the token.
        var session: (cookie: String, key: String)?
    }

    /// How long the token is valid.
    static let lifetime = Duration.seconds(60)

    private let port: UInt16?
    private let cookieName: String
    private let clock: any TimeSource
    private let lifetime: Duration
    private let state: Mutex<State>

    /// Makes the access of a server, with a first token.
    ///
    /// - Parameter listener: Where the server listens.
    init(at listener: StreamListener, lifetime: Duration = Access.lifetime, clock: any TimeSource = SystemClock()) {
        port = listener.port
        cookieName = Self.cookieName(at: listener)
        self.clock = clock
        self.lifetime = lifetime
        state = Mutex(State(token: Self.secret(), end: clock.now().advanced(by: lifetime)))
    }

    var token: String { state.withLock { $0.token } }

    /// Makes a token in place of the present one. The admitted browser stays admitted until another browser has
    /// exchanged the new token.
    ///
    /// - Returns: The token.
    func renew() -> String {
        let token = Self.secret()
        let end = clock.now().advanced(by: lifetime)
        state.withLock { state in (state.token, state.end, state.isUsed) = (token, end, false) }
        return token
    }

    /// Returns 32 random bytes in hexadecimal digits.
    private static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Returns the name of the cookie. A browser keeps the cookies of all ports of a host together, and tunnels bring
    /// servers of other machines to `localhost`, so each server has a name of its own. A server at the same place has
    /// the same name, so that a browser does not collect cookies until the head of a request is too long.
    private static func cookieName(at listener: StreamListener) -> String {
        var place = "\(ProcessIdentity.current.bootID) \(listener.location)"
        if listener.port == nil {
            // A process with another root directory may listen at the same path, so the identity of the directory is
            // part of the name.
            let directory = Directory.parts(of: listener.location).directory
            if let status = try? FileStatus(behindPath: directory) {
                place += " \(status.identity.device) \(status.identity.number)"
            }
        }
        let digits = SHA256(of: place.utf8).digest.prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "sharedcore-" + digits.joined()
    }

    /// Returns true if the `Host` of a request is this server, and not another name that resolves to its address (DNS
    /// rebinding).
    ///
    /// At a unix socket any port is accepted, because a tunnel has a port of its own.
    func isNamed(by request: WebRequest) -> Bool {
        guard let host = request["host"] else { return false }
        let names = ["127.0.0.1", "localhost"]
        // Clients leave out the port if it is 80, the default of HTTP.
        if let port { return names.contains { host == "\($0):\(port)" || (port == 80 && host == $0) } }
        let parts = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return names.contains(String(parts[0])) && (parts.count == 1 || UInt16(parts[1]) != nil)
    }

    /// Returns true if a request comes from the page, or from a person that opens it, according to the browser's
    /// headers.
    func isOwn(_ request: WebRequest) -> Bool {
        if let origin = request["origin"], origin != "http://\(request["host"] ?? "")" { return false }
        // Only the two pages may be opened in this way: without the key they contain nothing of the group.
        let isPage = request.method == "GET" && ["/", PlainPage.path].contains(request.path)
        switch request["sec-fetch-site"] {
        case nil, "same-origin": return true
        // A person has typed the address, or opened it from another program.
        case "none": return isPage
        // A person has followed a link.
        default:
            return isPage && request["sec-fetch-mode"] == "navigate" && request["sec-fetch-dest"] == "document"
        }
    }

    /// Exchanges a token.
    ///
    /// - Returns: The key, and the header field that sets the cookie; nil if the token is wrong, used or expired.
    func exchange(_ given: String?) -> (key: String, cookie: String)? {
        guard let given else { return nil }
        let session = (cookie: Self.secret(), key: Self.secret())
        let now = clock.now()
        let isAdmitted = state.withLock { state in
            guard Self.isEqual(given, state.token), now < state.end, !state.isUsed else { return false }
            state.isUsed = true
            state.session = session
            return true
        }
        guard isAdmitted else { return nil }
        return (session.key, "Set-Cookie: \(cookieName)=\(session.cookie); HttpOnly; SameSite=Strict; Path=/")
    }

    /// Returns true if a request has the cookie and the key.
    ///
    /// - Parameter key: The key that the request has.
    func admits(_ request: WebRequest, key: String?) -> Bool {
        guard let session = state.withLock({ $0.session }), let key else { return false }
        let cookies = (request["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        // A server of another user can set a cookie of this name beside ours, for a path of its own.
        let own = cookies.filter { $0.hasPrefix(cookieName + "=") }
        let hasCookie = own.map { Self.isEqual(String($0.dropFirst(cookieName.count + 1)), session.cookie) }.contains(
            true)
        return Self.isEqual(key, session.key) && hasCookie
    }

    /// Returns true if a key is that of the admitted browser.
    func isKey(_ key: String?) -> Bool {
        guard let session = state.withLock({ $0.session }), let key else { return false }
        return Self.isEqual(key, session.key)
    }

    /// Compares two texts in a time that does not depend on where they differ.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
