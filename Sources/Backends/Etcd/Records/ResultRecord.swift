#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import StoreEngine

    /// The value of a numbered request's key: its outcome. The commit's revision is the key's own.
    enum ResultRecord {
        case committed(changed: Bool)
        case refused(GuardFailure)

        var bytes: Data {
            var writer = ByteWriter()
            switch self {
            case .committed(let changed):
                writer.byte(0)
                writer.flag(changed)
            case .refused(let failure):
                writer.byte(1)
                writer.integer(failure.index)
                let (kind, revision) = Self.parts(of: failure.condition)
                writer.byte(kind)
                writer.text(failure.condition.key.text)
                writer.integer(revision.rawValue)
                writer.optional(failure.found) { writer, entry in
                    writer.integer(entry.revision.rawValue)
                    writer.integer(entry.creationRevision.rawValue)
                    let record = EntryRecord(
                        lifetime: entry.lifetime, origin: entry.origin, written: nil, value: entry.value)
                    writer.data([UInt8](record.bytes))
                }
            }
            return Data(writer.bytes)
        }

        init(_ bytes: Data) throws(SharedCoreError) {
            var reader = ByteReader([UInt8](bytes))
            do throws(ByteCodingError) {
                switch try reader.byte() {
                case 0: self = .committed(changed: try reader.flag())
                case 1:
                    let index = Int(clamping: try reader.integer())
                    let kind = try reader.byte()
                    guard let key = try? Key(try reader.text()) else { throw .malformed }
                    let revision = Revision(rawValue: try reader.integer())
                    guard let condition = Self.condition(kind, key, revision) else { throw .malformed }
                    let found = try reader.optional { reader throws(ByteCodingError) in
                        let revision = Revision(rawValue: try reader.integer())
                        let creation = Revision(rawValue: try reader.integer())
                        guard let record = try? EntryRecord(Data(try reader.data())) else { throw .malformed }
                        return Entry(
                            key: key, value: record.value, revision: revision, creationRevision: creation,
                            lifetime: record.lifetime, origin: record.origin)
                    }
                    self = .refused(GuardFailure(index: index, condition: condition, found: found))
                default: throw .malformed
                }
            } catch {
                throw .unreadable("the result of a request")
            }
        }

        /// Returns the outcome of a request with a key written at a revision.
        func outcome(at revision: Int64) -> RequestOutcome {
            switch self {
            case .committed(let changed): .committed(Commit(revision: Revision(etcd: revision), changed: changed))
            case .refused(let failure): .refused(failure)
            }
        }

        private static func parts(of condition: Transaction.Guard) -> (UInt8, Revision) {
            switch condition {
            case .absent: (0, .zero)
            case .exists: (1, .zero)
            case .revision(_, let revision): (2, revision)
            case .epoch(_, let epoch): (3, epoch)
            }
        }

        private static func condition(_ kind: UInt8, _ key: Key, _ revision: Revision) -> Transaction.Guard? {
            switch kind {
            case 0: .absent(key)
            case 1: .exists(key)
            case 2: .revision(key, revision)
            case 3: .epoch(key, revision)
            default: nil
            }
        }
    }
#endif
