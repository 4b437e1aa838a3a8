public import CoreAPI

/// A push: the announced call-id, the type, the account and the payload.
///
/// All of it comes from outside. ``payload`` is any bytes.
///
/// Source: contract P13.
public struct Push: Hashable, Sendable {
    /// The type of a push without an explicit type.
    public static let defaultType = "message"
    /// The type of a push that announces a call. If the call has not come at the deadline, there is nothing to show
    /// (contract C23).
    public static let callType = "call"
    /// The longest type, in bytes.
    public static let maximumTypeByteCount = 64
    /// The longest account, in bytes of UTF-8.
    public static let maximumAccountByteCount = 256
    /// The largest payload, in bytes.
    public static let maximumPayloadByteCount = 4 << 10

    /// The call-id that it announces.
    public let callID: CallID
    /// The type of the push, such as `message` or `call`.
    public let type: String
    /// The account that it is for; empty if it names none.
    public let account: String
    /// The payload; empty if there is none.
    public let payload: [UInt8]

    /// Makes a push of the type ``defaultType``, without account and payload.
    public init(_ callID: CallID) {
        self.callID = callID
        (type, account, payload) = (Self.defaultType, "", [])
    }

    /// Makes a push.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a type, an account or a payload that breaks its rule. The
    ///   message names the rule and the fault, without the value.
    public init(
        _ callID: CallID, type: String = Push.defaultType, account: String = "", payload: [UInt8] = []
    ) throws(SharedCoreError) {
        if let problem = Self.problem(type: type, account: account, payloadByteCount: payload.count) {
            throw SharedCoreError(.invalidArgument, problem, at: "push")
        }
        self.callID = callID
        self.type = type
        self.account = account
        self.payload = payload
    }

    /// Returns true if `text` can be the type of a push: 1 to 64 of `a-z`, `0-9`, `-` and `.`.
    public static func isType(_ text: some StringProtocol) -> Bool {
        (1...maximumTypeByteCount).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Returns the rule that one of the values breaks and how it does, as a sentence; nil when none does. The sentence
    /// has no more of a value than one character, because the value may be a secret.
    package static func problem(type: String, account: String, payloadByteCount: Int) -> String? {
        guard isType(type) else {
            return "A type is 1 to \(maximumTypeByteCount) of a-z, 0-9, “-” and “.”; this one "
                + "\(fault(ofType: type))."
        }
        guard account.utf8.count <= maximumAccountByteCount,
            !UTF8Bytes.hasControl(account)
        else {
            return
                "An account is at most \(maximumAccountByteCount) bytes of UTF-8 without control characters; this one "
                + (UTF8Bytes.firstControl(in: account).map { "has the control character \($0)." }
                    ?? "has \(account.utf8.count) bytes.")
        }
        guard payloadByteCount <= maximumPayloadByteCount else {
            return "A payload has at most \(maximumPayloadByteCount) bytes; this one has \(payloadByteCount)."
        }
        return nil
    }

    private static func fault(ofType text: String) -> String {
        guard text.utf8.count <= maximumTypeByteCount else { return "has \(text.utf8.count) bytes" }
        guard let scalar = text.unicodeScalars.first(where: { !isType(String($0)) }) else { return "is empty" }
        return "has the character \(UTF8Bytes.name(of: scalar))"
    }

    /// The push in a sentence for the timeline, without account and payload.
    package var sentence: String { "type \(type), “\(callID)”" }
}

/// The environment variables by which a host gives an Executor its push. Arguments would show the payload in lists of
/// processes.
extension Push {
    /// The variables. The payload is in Base64 (RFC 4648).
    package enum Variable: String, CaseIterable {
        case callID = "SHAREDCORE_CALL_ID"
        case type = "SHAREDCORE_PUSH_TYPE"
        case account = "SHAREDCORE_PUSH_ACCOUNT"
        case payload = "SHAREDCORE_PUSH_PAYLOAD"
    }

    /// All variables, including those of absent parts: the host's own environment may contain variables of another
    /// push.
    package var variables: [String: String] {
        [
            Variable.callID.rawValue: callID.text, Variable.type.rawValue: type, Variable.account.rawValue: account,
            Variable.payload.rawValue: Base64.encode(payload),
        ]
    }

    /// Reads the push from environment variables; nil if they contain none.
    package init?(variables value: (String) -> [UInt8]?) {
        // A host of an earlier version sets only the call-id.
        func text(_ variable: Variable, default fallback: String) -> String? {
            guard let bytes = value(variable.rawValue) else { return fallback }
            return String(validating: bytes, as: UTF8.self)
        }
        guard let callID = text(.callID, default: "").flatMap({ CallID($0) }),
            let type = text(.type, default: Self.defaultType), let account = text(.account, default: ""),
            let payload = text(.payload, default: "")
        else { return nil }
        self.init(callID, type: type, account: account, encodedPayload: payload)
    }

    /// Makes a push with a payload in Base64; nil when a value breaks its rule.
    package init?(_ callID: CallID, type: String, account: String, encodedPayload: String) {
        guard let payload = Base64.decode(encodedPayload) else { return nil }
        do throws(SharedCoreError) {
            try self.init(callID, type: type, account: account, payload: payload)
        } catch {
            return nil
        }
    }
}

/// Base64 (RFC 4648, section 4), without Foundation: an Executor's memory counts.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for byte in group { word = word << 8 | UInt32(byte) }
            word <<= 8 * UInt32(3 - group.count)
            for digit in 0..<4 {
                let isDigit = digit <= group.count
                text.append(isDigit ? alphabet[Int(word >> (18 - 6 * UInt32(digit)) & 63)] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64; nil for a text that no encoder produces, for example without padding or with a line break.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        var paddingCount = 0
        while paddingCount < 2, digits.last == padding {
            digits.removeLast()
            paddingCount += 1
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var word: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            word = word << 6 | value
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> bitCount))
            word &= 1 << bitCount - 1
        }
        // An encoder sets the unused bits after the last byte to zero.
        return word == 0 && bitCount < 6 ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
