internal import CZMQ
internal import CoreAPI
internal import Platform
internal import Synchronization

/// The library's context of this process, with its I/O threads. All sockets share it, so that a hub and its clients in
/// one process can connect; it lives as long as the process.
final class MessagingContext: Sendable {
    /// The context of this process, created at its first use.
    static let shared = MessagingContext()

    /// Stored as a number, which is `Sendable`: the library synchronizes the access to the context.
    private let address: UInt

    /// How many sockets may be open at once. The library takes a descriptor for each.
    private static let socketLimit: Int32 = 16_384

    private init() {
        // Nil when memory is exhausted, or the library is not there; then every socket is refused.
        let context = zmq_ctx_new()
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, Self.socketLimit)
        address = UInt(bitPattern: context)
    }

    /// Creates a socket of a type.
    func socket(_ type: Int32, for endpoint: String) throws(MessagingError) -> UnsafeMutableRawPointer {
        guard let socket = zmq_socket(UnsafeMutableRawPointer(bitPattern: address), type) else {
            throw MessagingError("zmq_socket", at: endpoint)
        }
        return socket
    }
}

/// An error of a libzmq call.
struct MessagingError: Error, Hashable {
    let call: String
    let number: Int32
    /// The endpoint or option concerned.
    let location: String

    /// Creates the error of the call that has just failed.
    init(_ call: String, at location: String) {
        self.call = call
        self.number = zmq_errno()
        self.location = location
    }

    /// Creates an error of the system, for injected faults.
    init(_ call: String, number: Int32, at location: String) {
        self.call = call
        self.number = number
        self.location = location
    }

    var text: String { String(cString: zmq_strerror(number)) }
}

extension SharedCoreError {
    /// Converts the error to the one for users.
    init(_ error: MessagingError) {
        if let missing = Self.missingLibrary(at: error.location) {
            self = missing
            return
        }
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

    /// Returns the error of a process that cannot load libzmq; nil if it is loaded.
    static func missingLibrary(at location: String) -> SharedCoreError? {
        guard let problem = czmq_problem() else { return nil }
        return SharedCoreError(
            .unsupported, "The messaging library \(CZMQ_LIBRARY) cannot be loaded; install it (Debian: libzmq5).",
            at: location, cause: String(cString: problem))
    }

    static func wrapping<Value>(_ body: () throws(MessagingError) -> Value) throws(SharedCoreError) -> Value {
        do throws(MessagingError) { return try body() } catch { throw SharedCoreError(error) }
    }
}
