public import CoreAPI

/// A call of the application. Every process of the group can read it, also while another process holds the call and
/// after that process has ended.
///
/// A core begins one with ``CoreContext/begin(call:in:moves:needs:)``. It belongs to the ownership under which it was
/// begun. If that ownership ends first, the call ends as lost.
///
/// Source: contract C23.
public struct Call: Hashable, Sendable {
    /// The side that began the call.
    public enum Direction: UInt8, Hashable, Sendable, CaseIterable {
        case incoming = 1
        case outgoing = 2
    }

    /// The media that a call may carry at its service level.
    public struct Media: OptionSet, Hashable, Sendable {
        public static let audio = Media(rawValue: 1)
        public static let video = Media(rawValue: 2)

        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }
    }

    /// The state of a call. An ended call stays ended; all other states may follow each other in any order, since
    /// protocols differ.
    public enum State: Hashable, Sendable {
        /// The call was received, and no telephone rings yet.
        case incoming
        /// It rings, here or at the other side.
        case ringing
        case answered
        /// This side holds it.
        case held
        /// The other side holds it.
        case remotelyHeld
        case ended(EndReason)
    }

    /// Why a call has ended. New reasons may be added.
    public struct EndReason: Hashable, Sendable, CustomStringConvertible {
        enum Kind: UInt8, Hashable, Sendable {
            case hungUp = 1
            case remoteHungUp, declined, missed, answeredElsewhere, busy, failed, lost
        }

        let kind: Kind
        /// The description of the failure, for people; empty for the other reasons.
        public let text: String

        init(_ kind: Kind, _ text: String = "") {
            self.kind = kind
            self.text = text
        }

        public var description: String { "\(kind)" }

        /// This side hung up.
        public static let hungUp = EndReason(.hungUp)
        /// The other side hung up.
        public static let remoteHungUp = EndReason(.remoteHungUp)
        /// It was declined, by either side.
        public static let declined = EndReason(.declined)
        /// The caller gave up, or the time to answer was over.
        public static let missed = EndReason(.missed)
        /// Another device of the account answered it.
        public static let answeredElsewhere = EndReason(.answeredElsewhere)
        /// The other side was busy.
        public static let busy = EndReason(.busy)
        /// The process that held the call ended, or lost or released the ownership. The group detects this; no core
        /// reports it.
        public static let lost = EndReason(.lost)

        /// Returns the reason of a call that failed, for example because the server refused it.
        ///
        /// - Parameter text: The description of the failure, for people: at most 256 bytes of UTF-8.
        public static func failed(_ text: String) -> EndReason { EndReason(.failed, text) }
    }

    /// Its identifier, which a push announces too.
    public let id: CallID
    /// The side that began it.
    public let direction: Direction
    /// The address of the calling party.
    public let from: String
    /// The address of the called party.
    public let to: String
    /// The account that it belongs to; empty for the only one.
    public let account: String
    /// The media that it may carry at its service level.
    public let media: Media
    /// The state of the call.
    public let state: State
    /// The owner of the core that has the call; nil for a call that has ended or that moves between cores (C25).
    public let holder: GroupOwner?
    /// When it began. This time, ``answered`` and ``ended`` are measured with the boot clock of the machine that
    /// ``bootID`` identifies.
    public let began: BootInstant
    /// When the call was answered; nil if it was not.
    public let answered: BootInstant?
    /// When it ended; nil if the call is open, or is lost and no core has noticed that yet.
    public let ended: BootInstant?
    /// The boot of the machine that has measured the times of this call with its clock.
    public let bootID: BootID

    /// True if the call has not ended.
    public var isOpen: Bool { state.isOpen }

    /// True while the call moves from one core to the next: until an owner has applied its baton, no core takes a
    /// command for it.
    ///
    /// Source: contract C25.
    public var isMoving: Bool { isOpen && holder == nil }

    init(_ record: CallRecord, holder: GroupOwner?, isMoving: Bool = false) {
        id = record.call.id
        direction = record.call.direction
        from = record.call.from
        to = record.call.to
        account = record.call.account
        media = record.call.media
        self.holder = record.state.isOpen ? holder : nil
        state = record.state.isOpen && holder == nil && !isMoving ? .ended(.lost) : record.state
        began = record.began
        answered = record.answered
        ended = record.ended
        bootID = record.bootID
    }
}

extension Call.State {
    package var isOpen: Bool { if case .ended = self { false } else { true } }

    /// The state in a word; for an ended call, the reason of the end.
    package var word: String {
        switch self {
        case .incoming: "incoming"
        case .ringing: "ringing"
        case .answered: "answered"
        case .held: "held"
        case .remotelyHeld: "remotelyHeld"
        case .ended(let reason): reason.description
        }
    }
}

/// The description of a call that a core begins.
public struct CallDescription: Hashable, Sendable {
    static let maximumByteCount = 512
    package static let maximumReasonByteCount = 256

    /// Its identifier, such as the Call-ID of its INVITE: at most 512 bytes of UTF-8, without control characters.
    public var id: CallID
    /// The side that began it.
    public var direction: Call.Direction
    /// The address of the calling party: at most 512 bytes of UTF-8, as the other texts.
    public var from: String
    /// The address of the called party.
    public var to: String
    /// The account that it belongs to; empty for the only one.
    public var account: String
    /// The media that it may carry at its service level.
    public var media: Call.Media

    public init(
        _ id: CallID, _ direction: Call.Direction, from: String, to: String, account: String = "",
        media: Call.Media = .audio
    ) {
        self.id = id
        self.direction = direction
        self.from = from
        self.to = to
        self.account = account
        self.media = media
    }

    /// The rule that it breaks; nil if it breaks none.
    package var problem: String? {
        for (name, text) in [("id", id.text), ("from", from), ("to", to), ("account", account)] {
            guard text.utf8.count <= Self.maximumByteCount else {
                return "“\(name)” of a call has at most \(Self.maximumByteCount) bytes, not \(text.utf8.count)."
            }
            guard !UTF8Bytes.hasControl(text) else { return "“\(name)” of a call has no control characters." }
        }
        return nil
    }
}
