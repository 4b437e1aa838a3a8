internal import CDatagram
package import Coordination
internal import CoreAPI
internal import Platform

/// A client in C of a small message protocol over UDP, as a core.
final class DatagramStack: LoopStack {
    private let port: UInt16
    private var client: OpaquePointer?
    private var loop: LoopContext?

    init(port: UInt16) {
        self.port = port
    }

    func start(on loop: LoopContext) throws {
        self.loop = loop
        let callbacks = datagram_callbacks(
            user: Unmanaged.passUnretained(self).toOpaque(),
            received: { user, id, text in DatagramStack.of(user).store(id, text) },
            unregistered: { user in DatagramStack.of(user).loop?.end() })
        client = datagram_open(port, callbacks)
        guard client != nil else { throw DatagramFailure(description: "no socket for the client") }
    }

    func prepare() -> LoopWait {
        let milliseconds = datagram_timeout(client)
        return LoopWait(
            for: [LoopDescriptor(datagram_descriptor(client), .readable)],
            atMost: milliseconds < 0 ? nil : .milliseconds(milliseconds))
    }

    func dispatch(_ ready: [LoopDescriptor]) {
        datagram_step(client)
    }

    func stop(_ request: StopRequest) {
        datagram_unregister(client)  // the loop goes on, and `unregistered` ends it
    }

    func close() {
        if let client { datagram_close(client) }
    }

    private func store(_ id: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?) -> Bool {
        guard let loop, let id, let text, let callID = CallID(String(cString: id)) else { return false }
        let content = InboxMessage.Content.text(from: "datagram", to: "me", text: String(cString: text))
        do {
            try loop.deliver(InboxMessage(callID: callID, content: content))
            return true  // committed, or known: only now may the server forget it
        } catch {
            return false  // the server sends it again, to the next core if need be
        }
    }

    private static func of(_ user: UnsafeMutableRawPointer?) -> DatagramStack {
        guard let user else { fatalError("The client passes on what it was given.") }
        return Unmanaged<DatagramStack>.fromOpaque(user).takeUnretainedValue()
    }
}

/// For the tests of it.
package func datagramStack(port: UInt16) -> any LoopStack { DatagramStack(port: port) }

private struct DatagramFailure: Error, CustomStringConvertible {
    let description: String
}

func runDatagramMain(in group: any SharedGroup, port: UInt16, untilClosed: @escaping @Sendable () async -> Void)
    async throws
{
    try await group.withMain(core: { LoopCore { DatagramStack(port: port) } }) { _ in
        await untilClosed()
    }
}

/// A loop of the application's own that receives posts.
func pollCalls(of group: any SharedGroup, ring: (NotificationDelivery) -> Void, poll: (Int32) -> Void) async throws {
    let calls = try await group.observe("calls").pollable(on: group.deliveryExecutor)
    while true {
        poll(calls.descriptor)
        switch try calls.next() {
        case .event(let call): ring(call)
        case .nothing: continue
        case .ended: return
        }
    }
}
