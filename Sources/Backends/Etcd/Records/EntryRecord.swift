#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import Platform
    internal import StoreEngine

    /// The value of an entry's key: the properties that etcd does not keep, then the value's own bytes.
    struct EntryRecord {
        var lifetime: Lifetime
        var origin: SessionID
        /// The time at which it was written, by the clock of its writer. Only expiring entries have it.
        var written: Moment?
        var value: [UInt8]

        var bytes: Data {
            var writer = ByteWriter(reserving: value.count + 48)
            switch lifetime {
            case .persistent: writer.byte(0)
            case .session: writer.byte(1)
            case .expiring(let duration):
                writer.byte(2)
                writer.integer(duration.clampedNanoseconds)
                (written ?? Moment(bootID: BootID(high: 0, low: 0), instant: BootInstant(nanoseconds: 0))).write(
                    to: &writer)
            }
            writer.integer(origin.rawValue)
            return Data(writer.bytes) + Data(value)
        }

        init(lifetime: Lifetime, origin: SessionID, written: Moment?, value: [UInt8]) {
            self.lifetime = lifetime
            self.origin = origin
            self.written = written
            self.value = value
        }

        init(_ bytes: Data) throws(SharedCoreError) {
            let bytes = [UInt8](bytes)
            var reader = ByteReader(bytes)
            do throws(ByteCodingError) {
                switch try reader.byte() {
                case 0: lifetime = .persistent
                case 1: lifetime = .session
                case 2:
                    lifetime = .expiring(after: .nanoseconds(Int64(clamping: try reader.integer())))
                    written = try Moment(from: &reader)
                default:
                    guard EtcdDefect.believedEntry.isPresent else { throw .malformed }
                    lifetime = .persistent
                }
                origin = SessionID(rawValue: try reader.integer())
            } catch {
                throw .unreadable("an entry")
            }
            value = Array(bytes[reader.position...])
        }

        /// Returns the entry as a replica keeps it.
        func stored(revision: Int64, creation: Int64, expiry: BootInstant?) -> StoredEntry {
            StoredEntry(
                value: .inline(value), revision: Revision(etcd: revision), creationRevision: Revision(etcd: creation),
                lifetime: lifetime, origin: origin, expiry: expiry)
        }
    }
#endif
