internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import Synchronization

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

    /// Prints each change of the calls until its task is cancelled or the group's handle has ended.
    ///
    /// - Parameter stop: Called when printing has failed.
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
