internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import Synchronization

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

/// The calls that were printed, so that only changes are printed.
struct KnownCalls {
    private var calls: [CallID: Call] = [:]

    /// Records the present calls, and returns those that changed, in the order of the list.
    mutating func changed(to present: [Call]) -> [Call] {
        let changed = present.filter { call in
            guard let known = calls[call.id] else { return true }
            return known.state != call.state || known.holder?.epoch != call.holder?.epoch || known.began != call.began
        }
        calls = Dictionary(present.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return changed
    }
}

/// Prints the calls of a group as they change, while a command runs.
final class CallPrinter: Sendable {
    private let group: any SharedGroup
    private let output: Output
    private let known = Mutex(KnownCalls())
    private let failure = Mutex<(any Error)?>(nil)

    init(of group: any SharedGroup, to output: Output) {
        self.group = group
        self.output = output
    }

    /// Works until its task is cancelled or the handle has ended.
    ///
    /// - Parameter stop: Called when it cannot print.
    func run(stop: @Sendable () async -> Void) async {
        do {
            for try await calls in try await Calls(group).changes() {
                // Write in a separate task, which completes even if this one is cancelled: the change is already
                // recorded as printed.
                try await Task { try await tell(calls) }.value
            }
        } catch is SharedCoreError {
            // The Main ends with the group, and reports the reason.
        } catch is CancellationError {
        } catch {
            failure.withLock { $0 = error }
            await stop()
        }
    }

    /// Prints the last changes, such as the end of a call with the stopped core. Works in a cancelled task too.
    ///
    /// - Throws: The first error of printing.
    func finish() async throws {
        if let error = failure.withLock({ $0 }) { throw error }
        try await Task {
            let calls: [Call]
            do throws(SharedCoreError) {
                calls = try await Calls(group).list()
            } catch {
                return
            }
            try await tell(calls)
        }.value
    }

    private func tell(_ calls: [Call]) async throws {
        for call in known.withLock({ $0.changed(to: calls) }) {
            let line = CallLine(call)
            try await output.emit(text: "Call \(line.text)", json: ["event": "call", "call": .object(line.json)])
        }
    }
}
