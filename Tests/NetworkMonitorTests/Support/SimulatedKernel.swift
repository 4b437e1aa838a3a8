internal import CoreAPI
internal import CoreAPITesting
internal import NetworkMonitor
internal import Platform

/// A kernel with a few links, which answers requests and reports changes as the real one does.
///
/// Routes disappear with their link or its last address without a report. Reports get lost when there are too many.
struct SimulatedKernel {
    private var links: [UInt32: NetworkLink] = [:]
    private var addresses: [LinkAddress] = []
    private var routes: [DefaultRoute] = []
    /// The messages in the socket.
    private(set) var waiting: [RouteMessage] = []
    private(set) var hasOverflown = false
    private let room: Int

    init(room: Int = 12) {
        self.room = room
    }

    /// The state by a picture of all this.
    var truth: NetworkState {
        var picture = NetworkPicture()
        for change in all(.links) + all(.addresses) + all(.routes) { _ = picture.apply(change) }
        return picture.state
    }

    mutating func answer(_ kind: RouteSocket.Kind, sequence: UInt32) {
        // In several parts, between which other reports may come; and after the messages that already waited.
        for change in all(kind) { waiting.append(RouteMessage(.changes([change]), answers: sequence)) }
        waiting.append(RouteMessage(.ended, answers: sequence))
    }

    mutating func take() -> RouteMessage? {
        waiting.isEmpty ? nil : waiting.removeFirst()
    }

    mutating func takeOverflow() -> Bool {
        defer { hasOverflown = false }
        return hasOverflown
    }

    /// Something changes.
    mutating func change(_ random: inout SeededRandom) {
        let index = UInt32.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let isUp = !(links[index]?.isUp ?? false)
            let link = NetworkLink(
                index: index, name: "wan\(index)", isUp: isUp, isRunning: isUp && !random.once(in: 4))
            links[index] = link
            if !isUp { routes.removeAll { $0.link == index } }
            report(.link(link))
        case 2:
            guard links[index] != nil else { return }
            links[index] = nil
            addresses.removeAll { $0.link == index }
            routes.removeAll { $0.link == index }
            report(.linkGone(index))
        case 3, 4:
            guard links[index] != nil, let address = address(index, &random) else { return }
            addresses.removeAll { $0.address == address.address && $0.link == index }
            addresses.append(address)
            report(.address(address))
        case 5:
            guard let address = addresses.randomElement(using: &random) else { return }
            addresses.removeAll { $0 == address }
            if !addresses.contains(where: { $0.link == address.link }) {
                routes.removeAll { $0.link == address.link }
            }
            report(.addressGone(address))
        case 6, 7:
            guard links[index]?.isUp == true else { return }
            let route = DefaultRoute(family: .version4, link: index, priority: UInt32.random(in: 0...1, using: &random))
            guard !routes.contains(route) else { return }
            routes.append(route)
            report(.route(route))
        case 8:
            guard let route = routes.randomElement(using: &random) else { return }
            routes.removeAll { $0 == route }
            report(.routeGone(route))
        default:
            guard links[index]?.isUp == true, let old = routes.randomElement(using: &random) else { return }
            let new = DefaultRoute(family: old.family, link: index, priority: old.priority)
            routes.removeAll { $0 == old || $0 == new }
            routes.append(new)
            report(.routesReplaced([new]))
        }
    }

    private func address(_ link: UInt32, _ random: inout SeededRandom) -> LinkAddress? {
        IPAddress(.version4, bytes: [192, 0, 2, UInt8.random(in: 1...4, using: &random)])
            .map { LinkAddress(link: link, address: $0, isUsable: !random.once(in: 3)) }
    }

    private mutating func report(_ change: NetworkChange) {
        if waiting.count < room {
            waiting.append(RouteMessage(.changes([change])))
        } else {
            hasOverflown = true
        }
    }

    private func all(_ kind: RouteSocket.Kind) -> [NetworkChange] {
        switch kind {
        case .links: links.values.sorted { $0.index < $1.index }.map { .link($0) }
        case .addresses: addresses.map { .address($0) }
        case .routes: routes.map { .route($0) }
        }
    }
}
