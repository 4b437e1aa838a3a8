import CoreAPI
import Wormholes

/// A message in the manner of protocol buffers: fields with a number in front, unknown ones passed over, defaults left out.
struct Reading: Hashable, Sendable {
    var sensor: UInt64 = 0
    var name = ""

    /// The fields are no text or do not add up.
    struct Malformed: Error {}
}

extension MessageCodec where Message == Reading {
    /// The wire format of protocol buffers, as far as this message needs it: varints (0) and counted bytes (2).
    static var wire: MessageCodec {
        MessageCodec(name: "reading") { reading in
            var writer = ByteWriter()
            if reading.sensor != 0 {
                writer.integer(1 << 3 | 0)
                writer.integer(reading.sensor)
            }
            if !reading.name.isEmpty {
                writer.integer(2 << 3 | 2)
                writer.text(reading.name)
            }
            return writer.bytes
        } decode: { bytes in
            var reader = ByteReader(bytes)
            var reading = Reading()
            while reader.remaining > 0 {
                let tag = try reader.integer()
                switch (tag >> 3, tag & 7) {
                case (1, 0): reading.sensor = try reader.integer()
                case (2, 2): reading.name = try reader.text()
                case (_, 0): _ = try reader.integer()
                case (_, 2): _ = try reader.data()
                default: throw Reading.Malformed()
                }
            }
            return reading
        }
    }
}
