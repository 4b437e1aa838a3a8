internal import CZMQ
internal import CoreAPI
internal import Platform
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

/// What libzmq says when it refuses something.
struct MessagingError: Error, Hashable {
    let call: String
    let number: Int32
    /// The endpoint or option that it was about.
    let location: String

    /// The error of the call that has just failed.
    init(_ call: String, at location: String) {
        self.call = call
        self.number = zmq_errno()
        self.location = location
    }

    /// An error of the system, as tests play it.
    init(_ call: String, number: Int32, at location: String) {
        self.call = call
        self.number = number
        self.location = location
    }

    var text: String { String(cString: zmq_strerror(number)) }
}

extension SharedCoreError {
    /// The error that users see.
    init(_ error: MessagingError) {
        typealias Number = SystemCallError.Number
        let code: Code =
            switch error.number {
            case Number.accessDenied, Number.notPermitted: .forbidden
            case Number.invalidArgument, Number.notSupported, Number.protocolNotSupported, Number.nameTooLong:
                .invalidArgument
            case Number.addressInUse, Number.addressNotAvailable, Number.noDevice, Number.tooManyFiles,
                Number.tooManyFilesInSystem, EMTHREAD:
                .unavailable
            default: .system
            }
        self.init(
            code, "The messaging library refuses the endpoint or the socket: \(error.text).", at: error.location,
            cause: "\(error.call): \(error.text)")
    }

    static func wrapping<Value>(_ body: () throws(MessagingError) -> Value) throws(SharedCoreError) -> Value {
        do throws(MessagingError) { return try body() } catch { throw SharedCoreError(error) }
    }
}
