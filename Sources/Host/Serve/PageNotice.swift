internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Prints once at which socket `sharedcore web --service` serves the page of the group.
final class PageNotice: Sendable {
    private let socket: String
    private let isSaid = Atomic(false)

    init(at socket: String) {
        self.socket = socket
    }

    func look(_ report: HostReport) {
        guard !isSaid.load(ordering: .relaxed), let page = try? StreamConnection(to: socket),
            page.peerUser == FileStatus.currentUser
        else { return }
        isSaid.store(true, ordering: .relaxed)
        report.print(
            "The page of the group is at the socket \(socket).", ["event": "page", "socket": .text(socket)])
    }
}
