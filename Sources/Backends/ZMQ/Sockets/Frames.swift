internal import CZMQ
internal import CoreAPI
internal import Platform

/// A frame to send. Its parts are copied once, into the library's message: a state of many MiB is assembled nowhere
/// else.
///
/// Each message of the protocol is one frame (decision 43).
struct OutgoingFrame {
    private let head: [UInt8]
    private let records: [[UInt8]]
    let byteCount: Int

    /// Makes a frame from its parts, and copies none of them.
    ///
    /// - Parameters:
    ///   - head: The bytes in front.
    ///   - records: The records behind them, each preceded by its length.
    init(_ head: [UInt8], records: [[UInt8]] = []) {
        self.head = head
        self.records = records
        byteCount = records.reduce(head.count) { $0 + ByteWriter.byteCount(ofCounted: $1.count) }
    }

    /// Writes the frame to a buffer of its size.
    func write(to buffer: UnsafeMutableRawBufferPointer) {
        var offset = 0
        func add(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyBytes(from: bytes)
            offset += bytes.count
        }
        add(head)
        for record in records {
            var count = ByteWriter(reserving: 10)
            count.integer(record.count)
            add(count.bytes)
            add(record)
        }
    }
}

/// A frame as received from the library. Its content is untrusted.
final class ReceivedFrame {
    /// Allocated separately, because the library does not allow a message to be moved.
    private let part: UnsafeMutablePointer<zmq_msg_t>
    /// True if the frame is the whole message. Further frames of a message are dropped.
    private(set) var isWholeMessage = true

    init() {
        part = .allocate(capacity: 1)
        part.initialize(to: zmq_msg_t())
        zmq_msg_init(part)
    }

    /// Creates a frame from bytes that were not received.
    convenience init(_ bytes: [UInt8]) {
        self.init()
        guard zmq_msg_init_size(part, bytes.count) == 0 else {
            zmq_msg_init(part)
            return
        }
        OutgoingFrame(bytes).write(to: UnsafeMutableRawBufferPointer(start: zmq_msg_data(part), count: bytes.count))
    }

    deinit {
        zmq_msg_close(part)
        part.deallocate()
    }

    /// Takes the next message of a socket, if there is one.
    fileprivate func take(from handle: UnsafeMutableRawPointer) -> Bool {
        var result: Int32
        repeat {
            result = zmq_msg_recv(part, handle, ZMQ_DONTWAIT)
        } while result == -1 && zmq_errno() == SystemCallError.Number.interrupted
        return result != -1
    }

    /// Takes the next message of a socket; false when there is none.
    func receive(from handle: UnsafeMutableRawPointer) -> Bool {
        guard take(from: handle) else { return false }
        var hasMore = zmq_msg_more(part) != 0
        isWholeMessage = !hasMore
        while hasMore {
            let rest = ReceivedFrame()
            hasMore = rest.take(from: handle) && zmq_msg_more(rest.part) != 0
        }
        return true
    }

    var byteCount: Int { zmq_msg_size(part) }

    /// Copies the bytes of a range, as far as they exist.
    func bytes(in range: Range<Int>) -> [UInt8] {
        let all = UnsafeRawBufferPointer(start: zmq_msg_data(part), count: byteCount)
        return Array(UnsafeRawBufferPointer(rebasing: all[range.clamped(to: 0..<byteCount)]))
    }
}
