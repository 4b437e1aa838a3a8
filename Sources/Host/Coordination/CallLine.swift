internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// A line about a call, as people and programs read it.
struct CallLine {
    private let call: Call
    private let clock: WallTime

    init(_ call: Call, at clock: WallTime = WallTime()) {
        self.call = call
        self.clock = clock
    }

    var text: String {
        let parties = "\(ValueText.oneLine(call.from)) → \(ValueText.oneLine(call.to))"
        let holder = call.holder.map { ", pid \($0.process.pid)" } ?? (call.isMoving ? ", moves to another core" : "")
        let account = call.account.isEmpty ? "" : ", account \(ValueText.oneLine(call.account))"
        return
            "\(ValueText.oneLine(call.id.text))\t\(state)\t\(word(for: call.direction)) \(parties)\(account)\(holder)"
    }

    private var state: String {
        guard case .ended(let reason) = call.state else { return call.state.word }
        return "ended: \(reason)" + (reason.text.isEmpty ? "" : ", \(ValueText.oneLine(reason.text))")
    }

    private func word(for direction: Call.Direction) -> String {
        switch direction {
        case .incoming: "incoming"
        case .outgoing: "outgoing"
        }
    }

    /// `id direction from to account media[] state reason text holder{session,role,pid,epoch} moving began
    /// answered ended`.
    var json: JSONObject {
        var state = call.state.word
        var reason: Call.EndReason?
        if case .ended(let why) = call.state { (state, reason) = ("ended", why) }
        let media = [(Call.Media.audio, "audio"), (.video, "video")].filter { call.media.contains($0.0) }.map(\.1)
        return [
            "id": .text(call.id.text), "direction": .text(word(for: call.direction)), "from": .text(call.from),
            "to": .text(call.to), "account": .text(call.account), "media": .array(media.map { .text($0) }),
            "state": .text(state), "reason": .optional(reason?.description),
            "text": .optional(reason.flatMap { $0.text.isEmpty ? nil : $0.text }),
            "holder": call.holder.map { .object(json(of: $0)) } ?? .null, "moving": .flag(call.isMoving),
            "began": time(call.began), "answered": time(call.answered), "ended": time(call.ended),
        ]
    }

    private func json(of holder: GroupOwner) -> JSONObject {
        [
            "session": .text(holder.session.description), "role": .text(holder.role.rawValue),
            "pid": .integer(Int64(holder.process.pid)), "epoch": .natural(holder.epoch.rawValue),
        ]
    }

    private func time(_ instant: BootInstant?) -> JSONValue {
        .optional(instant.flatMap { clock.text(of: $0, in: call.bootID) })
    }
}
