internal import CoreAPI
internal import Mailboxes
internal import ProgramOutput

/// One level of the tree that the parts of keys form, a page of it.
struct KeyLevel {
    /// A part of keys below the parent.
    struct Child {
        let name: String
        /// True if there is an entry under its path.
        var isKey: Bool
        /// The keys below its path.
        var count: Int

        var json: JSONObject {
            ["name": .text(name), "isKey": .flag(isKey), "count": .integer(Int64(count))]
        }
    }

    /// In the order of their bytes.
    let children: [Child]
    /// The last name of this page, if there are more.
    let next: String?

    /// Groups keys by their next part, into one page.
    ///
    /// - Parameters:
    ///   - keys: Keys that begin with `prefix`; those of the coordination are left out.
    ///   - prefix: The beginning of the keys, which ends with a `/`; empty for the root.
    ///   - name: The last name of the page before.
    init(
        of keys: some Sequence<Key>, below prefix: String, after name: String?, limit: Int = GroupReports.pageCount
    ) {
        let start = prefix.utf8.count
        var found: [[UInt8]: Child] = [:]
        for key in keys where !ReservedPath.contains(key) {
            let rest = key.text.utf8.dropFirst(start)
            let part = Array(rest.prefix { $0 != UInt8(ascii: "/") })
            let isKey = part.count == rest.count
            var child = found[part] ?? Child(name: String(decoding: part, as: UTF8.self), isKey: false, count: 0)
            if isKey { child.isKey = true } else { child.count += 1 }
            found[part] = child
        }
        let later = found.filter { part in name.map { $0.utf8.lexicographicallyPrecedes(part.key) } ?? true }
        let ordered = later.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        var byteCount = 0
        children = Array(
            ordered.prefix(limit).prefix { child in
                // Always include the first child, because an empty page would have no name from which the next page can
                // begin.
                defer { byteCount += child.json.line.utf8.count }
                return byteCount < GroupReports.listByteCount
            })
        next = ordered.count > children.count ? children.last?.name : nil
    }
}

/// The mailboxes of a group, by the keys that they are kept under.
struct MailboxTable {
    struct Row {
        let directory: String
        let kind: String
        let name: String
        var waiting = 0
        var taken = 0
        /// How many messages each session has in hand.
        var consumers: [SessionID: Int] = [:]

        /// The most consumers that a row lists.
        private static let consumerCount = 20

        var json: JSONObject {
            [
                "directory": .text(directory), "kind": .text(kind), "name": .text(name),
                "waiting": .integer(Int64(waiting)), "taken": .integer(Int64(taken)),
                "consumers": .array(
                    consumers.sorted { $0.key < $1.key }.prefix(Self.consumerCount).map { session, count in
                        .object(["session": .text(session.description), "taken": .integer(Int64(count))])
                    }),
            ]
        }
    }

    /// Selects the mailboxes of all wormholes.
    static let prefix: KeyPrefix = ".sharedcore/mailboxes/"

    /// In the order of their keys.
    private(set) var rows: [Row] = []

    init(_ entries: [Entry]) {
        var places: [String: Int] = [:]
        for entry in entries {
            // Behind the prefix: directory, kind, name, and “value”, or a queue's item and its part.
            let parts = entry.key.text.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map(
                String.init)
            guard parts.count == 5 || parts.count == 4 && parts[3] == "value" else { continue }
            let path = parts[..<3].joined(separator: "/")
            let place = places[path] ?? rows.count
            if place == rows.count {
                places[path] = place
                rows.append(Row(directory: Self.text(parts[0]), kind: parts[1], name: Self.text(parts[2])))
            }
            switch parts.count == 5 ? parts[4] : "m" {
            case "m": rows[place].waiting += 1
            case "t":
                rows[place].taken += 1
                rows[place].waiting -= 1
                rows[place].consumers[entry.origin, default: 0] += 1
            default: break
            }
        }
    }

    /// Returns the text of a part of a key; that of a long text is its hash, and stays as it is.
    private static func text(_ part: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
