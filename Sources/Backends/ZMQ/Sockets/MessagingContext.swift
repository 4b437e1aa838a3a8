internal import CZMQ
internal import Synchronization

/// The library's context of this process: its threads of input and output. All sockets share it, so that a hub and its
/// clients in one process can meet in it; it lives as long as the process.
final class MessagingContext: Sendable {
    /// The context of this process, made when it is first needed.
    static let shared = MessagingContext()

    /// The address is a number to the language: the library guards what is behind it.
    private let address: UInt

    /// Sockets that may be open at once. The library takes a descriptor for each.
    private static let socketLimit: Int32 = 16_384

    private init() {
        // Nil only without memory; then every socket is refused.
        let context = zmq_ctx_new()
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, Self.socketLimit)
        address = UInt(bitPattern: context)
    }

    /// Makes a socket of a type.
    func socket(_ type: Int32, for endpoint: String) throws(MessagingError) -> UnsafeMutableRawPointer {
        guard let socket = zmq_socket(UnsafeMutableRawPointer(bitPattern: address), type) else {
            throw MessagingError("zmq_socket", at: endpoint)
        }
        return socket
    }
}
