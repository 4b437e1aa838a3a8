#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials

    /// The value of the head: the properties of a commit that its events lack.
    struct HeadRecord {
        enum Kind: UInt8 {
            case opened, committed, expired
        }

        var kind: Kind
        var origin: SessionID
        /// The sender's number for the request, which identifies it if its answer is lost.
        var delivery: UInt64
        var changed: Bool
        var time: Moment

        var bytes: Data {
            var writer = ByteWriter(reserving: 48)
            writer.byte(kind.rawValue)
            writer.integer(origin.rawValue)
            writer.integer(delivery)
            writer.flag(changed)
            time.write(to: &writer)
            return Data(writer.bytes)
        }

        init(_ kind: Kind, of origin: SessionID, delivery: UInt64 = 0, changed: Bool = true, at time: Moment) {
            self.kind = kind
            self.origin = origin
            self.delivery = delivery
            self.changed = changed
            self.time = time
        }

        init(_ bytes: Data) throws(SharedCoreError) {
            var reader = ByteReader([UInt8](bytes))
            do throws(ByteCodingError) {
                guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
                self.kind = kind
                origin = SessionID(rawValue: try reader.integer())
                delivery = try reader.integer()
                changed = try reader.flag()
                time = try Moment(from: &reader)
            } catch {
                throw .unreadable("the head of a group")
            }
        }
    }
#endif
