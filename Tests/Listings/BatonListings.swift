internal import Coordination
internal import CoreAPI
internal import Synchronization

final class MovingCallCore: Core {
    static let baton = "telephone/1"  // the format and version of its bytes
    private let dialog = Mutex<Dialog?>(nil)

    func start(in context: CoreContext) async throws {
        guard let baton = context.baton else { return }
        let dialog = try Dialog(baton.bytes, sockets: baton.takeDescriptors())  // prepares, and sends nothing
        do throws(SharedCoreError) {
            let calls = try await baton.apply()
            dialog.go(on: calls)  // from here on it sends
            self.dialog.withLock { $0 = dialog }
        } catch {
            guard error.code == .guardFailed else { throw error }
            await context.report("continues without the call: \(error.message)")  // it is another core's, or over
        }
    }

    func iterate(in context: CoreContext) async throws {
        guard let ringing = await nextCall() else { return }
        let call = try await context.begin(call: ringing, in: .ringing)
        try await call.change(to: .answered)
        try await call.setMoves(Self.baton)  // what rings does not move
    }

    func handOver(_ request: StopRequest) async -> Baton? {
        guard let dialog = dialog.withLock({ $0 }), request.takes.contains(Self.baton) else { return nil }
        dialog.rest()  // sends and reads nothing from now on
        return try? Baton(
            Self.baton, bytes: dialog.bytes, descriptors: dialog.sockets, calls: dialog.calls)
    }

    func batonEnded(_ end: BatonEnd) async {
        if end.isOwn { await dialog.withLock({ $0 })?.hangUp() }  // it failed: the call is this core's to end
        dialog.withLock { $0 = nil }  // closes the sockets; a shutdown would end those of the next core
    }

    func stop() async {}
}

/// A call of a telephone, as far as the listing needs it.
final class Dialog: Sendable {
    let bytes: [UInt8]
    let sockets: [Int32]
    var calls: [CallID] { open.withLock { $0.map(\.id) } }
    private let open = Mutex<[OpenCall]>([])

    init(_ bytes: [UInt8], sockets: [Int32]) throws {
        self.bytes = bytes
        self.sockets = sockets
    }

    func go(on calls: [OpenCall]) { open.withLock { $0 = calls } }
    func rest() {}
    func hangUp() async {}
}

private func nextCall() async -> CallDescription? { nil }
