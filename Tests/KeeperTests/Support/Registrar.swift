internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Synchronization

/// The server of one user: it knows the contacts that are registered, and sends a call that waits to each of them until
/// one has taken it.
///
/// A contact is registered for as long as its connection is open, which the kernel closes when its process ends. Two
/// contacts at once are an overlap, with two exceptions. If the process of the former one is stopped, no program can
/// unregister it. If it is being killed, the kernel may release its locks before it closes its connection.
final class Registrar: Sendable {
    fileprivate struct Contact {
        let connection: MessageSocket
        var name: String?
        var offered: Set<String> = []
        /// The overlaps with later contacts. They count unless this connection ends by a kill.
        var overlaps: [String] = []
    }

    private struct State {
        var contacts: [Contact] = []
        var calls: [String] = []
        var taken: [String] = []
        var overlaps: [String] = []
        var registered: [String] = []
        var isOver = false
    }

    let path: String
    private let state = Mutex(State())
    private let wake: EventCounter

    init(at path: String) throws {
        self.path = path
        wake = try EventCounter()
        let listener = try MessageSocket(listeningAt: path)
        try OwnedThread.start("registrar") { [weak self, wake] in
            while let descriptors = self?.round(listener) {
                let ready = Poll.wait(for: [wake.descriptor, listener.descriptor] + descriptors, timeout: nil)
                if ready[0] { wake.clear() }
            }
        }
    }

    deinit { wake.raise() }

    /// Ends its thread.
    func close() {
        state.withLock { $0.isOver = true }
        wake.raise()
    }

    /// Takes in a call.
    func receive(_ call: String) {
        state.withLock { $0.calls.append(call) }
        wake.raise()
    }

    /// The calls that were taken, each as often as it was taken.
    var taken: [String] { state.withLock { $0.taken } }
    /// The registrations that came while another contact was registered and its process was not stopped.
    var overlaps: [String] { state.withLock { state in state.overlaps + state.contacts.flatMap(\.overlaps) } }
    /// All names that have registered, in their order.
    var registered: [String] { state.withLock { $0.registered } }
    /// The names that are registered.
    var contacts: [String] { state.withLock { $0.contacts.compactMap(\.name) } }

    /// Handles all pending input, and returns the descriptors to wait for; nil when it is closed.
    private func round(_ listener: MessageSocket) -> [Int32]? {
        state.withLock { state -> [Int32]? in
            guard !state.isOver else { return nil }
            while let connection = try? listener.accept() { state.contacts.append(Contact(connection: connection)) }
            var arrived: [(Int, String)] = []
            var ended: Set<Int> = []
            for index in state.contacts.indices {
                arrivals: while true {
                    switch state.contacts[index].connection.receive(upTo: 200) {
                    case .message(let bytes, _): arrived.append((index, String(decoding: bytes, as: UTF8.self)))
                    case .tooLong, .end:
                        ended.insert(index)
                        break arrivals
                    case .nothing: break arrivals
                    }
                }
            }
            for (index, text) in arrived {
                let words = text.split(separator: " ").map(String.init)
                if words.first == "leave" {
                    state.overlaps += state.contacts[index].overlaps
                    continue
                }
                if words.first == "took" {
                    state.taken.append(words[1])
                    state.calls.removeAll { $0 == words[1] }
                    continue
                }
                for (other, contact) in state.contacts.enumerated() where other != index {
                    guard let name = contact.name, !contact.hasEnded, !contact.isStopped else { continue }
                    state.contacts[other].overlaps.append("\(words[1]) beside \(name)")
                }
                state.contacts[index].name = words[1]
                state.registered.append(words[1])
            }
            for index in ended.sorted(by: >) { state.contacts.remove(at: index) }
            for index in state.contacts.indices where state.contacts[index].name != nil {
                for call in state.calls where state.contacts[index].offered.insert(call).inserted {
                    try? state.contacts[index].connection.send(Array(call.utf8))
                }
            }
            return state.contacts.map(\.connection.descriptor)
        }
    }
}

extension Registrar.Contact {
    /// True if the other end is closed. A connection that another one has replaced is closed by then, even if its end
    /// is not read yet.
    var hasEnded: Bool {
        let events = try? Poll.events(of: [(connection.descriptor, 0)], timeout: .zero)
        return events.map { $0[0] & Poll.failed != 0 } ?? false
    }

    var isStopped: Bool {
        guard let process = try? connection.peer().process, let identity = ProcessIdentity(of: process) else {
            return false
        }
        return identity.isStopped == true
    }
}
