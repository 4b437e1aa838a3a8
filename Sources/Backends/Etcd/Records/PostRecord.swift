#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import StoreEngine

    /// The value of a name's key: the session that posted last, and the number of posts in that commit.
    struct PostRecord {
        var origin: SessionID
        var count: UInt64

        var bytes: Data {
            var writer = ByteWriter()
            writer.integer(origin.rawValue)
            writer.integer(count)
            return Data(writer.bytes)
        }

        init(origin: SessionID, count: UInt64) {
            self.origin = origin
            self.count = count
        }

        init(_ bytes: Data) throws(SharedCoreError) {
            var reader = ByteReader([UInt8](bytes))
            do throws(ByteCodingError) {
                origin = SessionID(rawValue: try reader.integer())
                count = try reader.integer()
                guard (1...UInt64(StoreState.stepLimit)).contains(count) else { throw .malformed }
            } catch {
                throw .unreadable("a notification")
            }
        }

        /// Returns the value of a key that is a number: a name's state, or the count of its further posts.
        static func number(_ value: UInt64) -> Data {
            var writer = ByteWriter()
            writer.word(value)
            return Data(writer.bytes)
        }

        static func number(_ bytes: Data) throws(SharedCoreError) -> UInt64 {
            var reader = ByteReader([UInt8](bytes))
            guard let value = try? reader.word() else { throw .unreadable("a number") }
            return value
        }
    }
#endif
