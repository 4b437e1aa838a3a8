#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials

    /// The etcd keys of one group: a root, a letter for the kind, and a name.
    ///
    /// No root is a prefix of another one's keys: a zero byte, which prefixes cannot contain, separates the prefix from
    /// the group's name, in which each `/` is escaped.
    struct Keyspace: Hashable, Sendable {
        enum Kind: UInt8 {
            /// `c`: written when an entry is removed and created again in one transaction, which etcd reports as a
            /// change. The revision of this key is that of the entry's creation then.
            case creation = 0x63
            case entry = 0x65
            /// `h`: written by every commit; its value has the properties that the events of the commit lack.
            case head = 0x68
            /// `n`: written by every commit that posts a name. Its version counts them.
            case name = 0x6e
            /// `r`: the outcome of a numbered request.
            case result = 0x72
            case session = 0x73
            /// `t`: the state of a name.
            case state = 0x74
            /// `v`: the version of this layout.
            case layout = 0x76
            /// `x`: the number of further posts of a name in one commit.
            case extra = 0x78
        }

        /// The version of the layout that is written and read.
        static let layoutVersion = Data("1".utf8)

        let root: Data

        /// Makes the keys of a group below a prefix.
        ///
        /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a prefix with a zero byte.
        init(prefix: String, group: String) throws(SharedCoreError) {
            guard !prefix.utf8.contains(0) else {
                throw SharedCoreError(.invalidArgument, "A prefix of keys has no zero byte.", at: "etcd.prefix")
            }
            let name = group.utf8.reduce(into: [UInt8]()) { name, byte in
                switch byte {
                case UInt8(ascii: "/"): name += Array("%2F".utf8)
                case UInt8(ascii: "%"): name += Array("%25".utf8)
                default: name.append(byte)
                }
            }
            root = Data(Array(prefix.utf8) + [0] + name + [0x2f])
        }

        var head: Data { key(.head) }
        var layout: Data { key(.layout) }

        func entry(_ key: Key) -> Data { self.key(.entry, key.text.utf8) }
        func creation(_ key: Key) -> Data { self.key(.creation, key.text.utf8) }
        func name(_ name: NotificationName) -> Data { key(.name, name.text.utf8) }
        func state(_ name: NotificationName) -> Data { key(.state, name.text.utf8) }
        func extra(_ name: NotificationName) -> Data { key(.extra, name.text.utf8) }
        func session(_ lease: Int64) -> Data { key(.session, Self.digits(UInt64(bitPattern: lease))) }
        func result(_ lease: Int64, _ number: UInt64) -> Data { key(.result, Self.resultName(lease, number)) }
        /// Returns the end of the range of a session's results.
        func resultsEnd(_ lease: Int64) -> Data { key(.result, Self.digits(UInt64(bitPattern: lease)) + [0x30]) }

        func key(_ kind: Kind, _ name: some Sequence<UInt8> = EmptyCollection()) -> Data {
            var key = root
            key.append(kind.rawValue)
            key.append(0x2f)
            key.append(contentsOf: name)
            return key
        }

        /// Returns all keys of a kind.
        func all(_ kind: Kind) -> Range<KeyBound> {
            let start = key(kind)
            return KeyBound(start)..<KeyBound(Self.successor(ofPrefix: start))
        }

        /// All keys of the group.
        var whole: Range<KeyBound> { KeyBound(root)..<KeyBound(Self.successor(ofPrefix: root)) }

        /// Returns the kind of a key, and its name.
        func split(_ key: Data) -> (kind: Kind, name: [UInt8])? {
            guard key.count >= root.count + 2, key.starts(with: root) else { return nil }
            let rest = [UInt8](key.dropFirst(root.count))
            guard let kind = Kind(rawValue: rest[0]), rest[1] == 0x2f else { return nil }
            return (kind, Array(rest[2...]))
        }

        /// Returns the first key after all that begin with these bytes, which end in `/`.
        private static func successor(ofPrefix prefix: Data) -> Data {
            var end = prefix
            end[end.endIndex - 1] += 1
            return end
        }

        private static func resultName(_ lease: Int64, _ number: UInt64) -> [UInt8] {
            digits(UInt64(bitPattern: lease)) + [0x2f] + digits(number)
        }

        private static func digits(_ number: UInt64) -> [UInt8] {
            let digits = Array(String(number, radix: 16).utf8)
            return [UInt8](repeating: 0x30, count: 16 - digits.count) + digits
        }

        /// Returns the number that ends a result's name.
        static func number(ofResult name: [UInt8]) -> UInt64? {
            guard name.count == 33 else { return nil }
            return UInt64(String(decoding: name[17...], as: UTF8.self), radix: 16)
        }

        /// Returns the lease that is a session's name.
        static func lease(ofSession name: [UInt8]) -> Int64? {
            UInt64(String(decoding: name, as: UTF8.self), radix: 16).map { Int64(bitPattern: $0) }
        }
    }

    /// An etcd key as the end of a range: keys are ordered by their bytes.
    struct KeyBound: Hashable, Comparable, Sendable {
        let bytes: Data

        init(_ bytes: Data) {
            self.bytes = bytes
        }

        static func < (left: KeyBound, right: KeyBound) -> Bool {
            left.bytes.lexicographicallyPrecedes(right.bytes)
        }
    }

    extension Revision {
        /// Makes a revision of the group from one of etcd's.
        init(etcd revision: Int64) {
            self.init(rawValue: UInt64(clamping: revision))
        }

        /// The revision as etcd counts.
        var etcd: Int64 { Int64(clamping: rawValue) }
    }
#endif
