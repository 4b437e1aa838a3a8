internal import CZMQ
internal import CoreAPI
internal import Glibc

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
        let code: Code =
            switch error.number {
            case EACCES, EPERM: .forbidden
            case EINVAL, ENOTSUP, EPROTONOSUPPORT, ENAMETOOLONG: .invalidArgument
            case EADDRINUSE, EADDRNOTAVAIL, ENODEV, EMFILE, ENFILE, EMTHREAD: .unavailable
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
