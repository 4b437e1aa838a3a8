internal import CSharedCore
internal import Coordination
internal import CoreAPI

/// The codes of the header that are failures.
enum FailureCode: Int32, CaseIterable {
    case invalidArgument = 1
    case limitExceeded, guardFailed, closed, sessionEnded, cancelled, outcomeUnknown, unsupported, storageFull
    case forbidden, unavailable, incompatible, corrupt, system
    case refused = 20
    case timeout, fenced, superseded, coreFailed, notFound
    case handle = 40
    case forked = 41
    case unknown = 99

    /// Returns the code of the same name; `unknown` where the header has none.
    init(named name: String) {
        self = Self.allCases.first { String(cString: sc_code_name($0.rawValue)) == name } ?? .unknown
    }
}

/// An error that a C function returns.
struct Failure: Error {
    let code: FailureCode
    let message: String
    let location: String
    var guardFailure: GuardFailure?

    init(_ code: FailureCode, _ message: String, at location: String) {
        self.code = code
        self.message = message
        self.location = location
    }

    init(_ error: SharedCoreError) {
        code = FailureCode(named: error.code.description)
        message = error.cause.map { "\(error.message) (\($0))" } ?? error.message
        location = error.location
        guardFailure = error.guardFailure
    }

    init(_ error: CoordinationError) {
        if error.code == .store, let cause = error.cause {
            self.init(cause)
        } else {
            let text = error.cause.map { "\(error.message) (\($0))" } ?? error.message
            self.init(FailureCode(named: error.code.description), text, at: "participant")
        }
    }

    /// Fills in the caller's structure. Does nothing for NULL.
    func write(to error: UnsafeMutablePointer<sc_error>?) {
        guard let error else { return }
        error.pointee = sc_error()
        error.pointee.code = code.rawValue
        if let guardFailure {
            error.pointee.guard_index = UInt32(clamping: guardFailure.index)
            error.pointee.found_revision = guardFailure.found?.revision.rawValue ?? 0
            error.pointee.found_creation_revision = guardFailure.found?.creationRevision.rawValue ?? 0
        }
        withUnsafeMutableBytes(of: &error.pointee.message) { message.copy(to: $0) }
        withUnsafeMutableBytes(of: &error.pointee.location) { location.copy(to: $0) }
    }
}

extension String {
    /// Copies the text and a NUL, truncated at a character.
    fileprivate func copy(to buffer: UnsafeMutableRawBufferPointer) {
        let bytes = cut(toByteCount: buffer.count - 1).utf8
        buffer.copyBytes(from: bytes)
        buffer[bytes.count] = 0
    }
}
