internal import CSharedCore
internal import CoreAPI
internal import Platform

/// The codes that are not failures.
enum Answer {
    static let ok = Int32(SC_OK)
    static let nothing = Int32(SC_NOTHING)
    static let ended = Int32(SC_ENDED)
}

/// Runs the body of a C function and returns its code. Returns SC_ERR_FORKED in a forked child, without running the body.
func boundary(_ buffer: UnsafeMutablePointer<sc_error>?, _ body: () throws(Failure) -> Int32) -> Int32 {
    if ForkedChild.isCurrent { return sharedcore_refuse_forked_child(buffer) }
    do throws(Failure) {
        return try body()
    } catch {
        error.write(to: buffer)
        return error.code.rawValue
    }
}

/// Runs an asynchronous call of the store and blocks the calling thread until it returns.
func wait<Value: Sendable>(
    for body: @escaping @Sendable () async throws(SharedCoreError) -> Value
) throws(Failure) -> Value {
    let result: Result<Value, SharedCoreError> = CallingThread.wait {
        do throws(SharedCoreError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw Failure(error)
    }
}

/// Runs a call of the store, and converts its error.
func store<Value>(_ body: () throws(SharedCoreError) -> Value) throws(Failure) -> Value {
    do throws(SharedCoreError) {
        return try body()
    } catch {
        throw Failure(error)
    }
}

/// Returns the pointer through which the caller receives a result.
///
/// - Throws: `invalidArgument` for NULL.
func required<Value>(
    _ pointer: UnsafeMutablePointer<Value>?, _ name: String
) throws(Failure) -> UnsafeMutablePointer<Value> {
    guard let pointer else {
        throw Failure(.invalidArgument, "The place for the result “\(name)” is NULL.", at: name)
    }
    return pointer
}

/// The limits of a C caller's arguments.
enum Bound {
    /// The longest key, prefix or name, in bytes. The store accepts fewer.
    static let name = 4096
    /// The largest value, in bytes. The store accepts fewer.
    static let bytes = 1 << 30
    /// The largest number of guards, operations or settings in one array.
    static let elements = 1 << 20
}

/// Reads text that a C caller passes.
///
/// - Parameter count: The length in bytes; -1 (`SC_NUL`) for text that ends with a NUL.
/// - Throws: `invalidArgument` for NULL, for bytes that are not UTF-8, and for text beyond the limit.
func text(
    _ pointer: UnsafePointer<CChar>?, _ count: Int, _ name: String, limit: Int = Bound.name
) throws(Failure) -> String {
    guard let pointer else { throw Failure(.invalidArgument, "The text “\(name)” is NULL.", at: name) }
    var length = count
    if count == -1 {
        length = 0
        while length <= limit, pointer[length] != 0 { length += 1 }
    }
    guard (0...limit).contains(length) else {
        throw Failure(.invalidArgument, "The text “\(name)” has more than \(limit) bytes.", at: name)
    }
    let bytes = UnsafeBufferPointer(start: pointer, count: length)
    guard let text = String(validating: bytes.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
        throw Failure(.invalidArgument, "The text “\(name)” is not UTF-8.", at: name)
    }
    return text
}

/// Reads text that ends with a NUL.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String, limit: Int = Bound.name) throws(Failure) -> String {
    try text(pointer, -1, name, limit: limit)
}

/// Reads text that ends with a NUL; nil for NULL.
func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String, limit: Int = Bound.name) throws(Failure) -> String?
{
    guard let pointer else { return nil }
    return try text(pointer, name, limit: limit)
}

/// Copies bytes that a C caller passes. NULL is allowed for a count of 0.
///
/// - Throws: As ``elements(_:_:_:limit:)``.
func bytes(_ pointer: UnsafePointer<UInt8>?, _ count: Int, _ name: String) throws(Failure) -> [UInt8] {
    try Array(elements(pointer, count, name, limit: Bound.bytes))
}

/// Returns the elements of a C caller's array. NULL is allowed for a count of 0.
///
/// - Throws: `limitExceeded` for a count beyond the limit, and `invalidArgument` for NULL with another count.
func elements<Element>(
    _ pointer: UnsafePointer<Element>?, _ count: Int, _ name: String, limit: Int = Bound.elements
) throws(Failure) -> UnsafeBufferPointer<Element> {
    guard (0...limit).contains(count) else {
        throw Failure(.limitExceeded, "“\(name)” has more than \(limit) elements.", at: name)
    }
    guard count == 0 || pointer != nil else {
        throw Failure(.invalidArgument, "“\(name)” is NULL and has \(count) elements.", at: name)
    }
    return UnsafeBufferPointer(start: pointer, count: count)
}

/// Returns a structure of the caller that begins with its size.
///
/// - Parameter initializer: The macro that sets the size.
/// - Throws: `invalidArgument` for NULL, and for a size that is not this version's.
func sized<Value>(
    _ pointer: UnsafePointer<Value>?, _ name: String, _ initializer: String
) throws(Failure) -> Value {
    guard let pointer else { throw Failure(.invalidArgument, "“\(name)” is NULL.", at: name) }
    // Read only the size at first, because the structure may be shorter than this version's.
    let size = UnsafeRawPointer(pointer).load(as: UInt.self)
    guard size == UInt(MemoryLayout<Value>.size) else {
        throw Failure(
            .invalidArgument,
            "“\(name)” has the size \(size), not \(MemoryLayout<Value>.size): set it with \(initializer).", at: name)
    }
    return pointer.pointee
}

/// Checks the largest number of elements of a page, which C has as `size_t`.
///
/// - Throws: `invalidArgument` for 0, and for a number beyond `INT64_MAX`, which is negative here.
func pageLimit(_ limit: Int) throws(Failure) -> Int {
    guard limit > 0 else {
        throw Failure(
            .invalidArgument, "The limit of a page is 1 to \(Int.max), not \(UInt(bitPattern: limit)).", at: "limit")
    }
    return limit
}

/// Returns a time in milliseconds that a C caller may leave to its default; nil for 0.
///
/// - Throws: `invalidArgument` for a time below 0.
func optionalTime(_ milliseconds: Int64, _ name: String) throws(Failure) -> Duration? {
    guard milliseconds >= 0 else {
        throw Failure(.invalidArgument, "\(name) is \(milliseconds) ms; it must be 0 or more.", at: name)
    }
    return milliseconds == 0 ? nil : .milliseconds(min(milliseconds, Deadline.maximum))
}

func key(_ pointer: UnsafePointer<CChar>?, _ count: Int) throws(Failure) -> Key {
    let text = try text(pointer, count, "key")
    return try store { () throws(SharedCoreError) in try Key(text) }
}

func prefix(_ pointer: UnsafePointer<CChar>?, _ count: Int) throws(Failure) -> KeyPrefix {
    let text = try text(pointer, count, "prefix")
    return try store { () throws(SharedCoreError) in try KeyPrefix(text) }
}

func name(_ pointer: UnsafePointer<CChar>?, _ count: Int) throws(Failure) -> NotificationName {
    let text = try text(pointer, count, "name")
    return try store { () throws(SharedCoreError) in try NotificationName(text) }
}

func lifetime(_ kind: Int32, _ milliseconds: Int64) throws(Failure) -> Lifetime {
    switch Int(kind) {
    case Int(SC_PERSISTENT): return .persistent
    case Int(SC_SESSION): return .session
    case Int(SC_EXPIRING): return .expiring(after: try optionalTime(milliseconds, "lifetime") ?? .zero)
    default: throw Failure(.invalidArgument, "There is no lifetime \(kind).", at: "lifetime_kind")
    }
}

/// The time at which a waiting call gives up.
struct Deadline {
    /// The longest wait in milliseconds: 30 years. No sum with it overflows.
    static let maximum: Int64 = 946_080_000_000

    private let end: BootInstant?

    /// Returns the duration of a timeout, which is the longest wait for one below 0.
    static func duration(_ milliseconds: Int64) -> Duration {
        .milliseconds(milliseconds < 0 ? maximum : min(milliseconds, maximum))
    }

    /// Makes the deadline of a call that begins now.
    ///
    /// - Parameter milliseconds: The timeout; below 0 for a wait without a limit.
    init(_ milliseconds: Int64) {
        end = milliseconds < 0 ? nil : SystemClock().now().advanced(by: .milliseconds(min(milliseconds, Self.maximum)))
    }

    /// Blocks the calling thread until a descriptor is readable. Returns false at the deadline.
    func wait(for descriptor: Int32) -> Bool {
        while true {
            let left = end.map { SystemClock().now().duration(to: $0) }
            if let left, left <= .zero { return false }
            if Poll.wait(for: [descriptor], timeout: left)[0] { return true }
        }
    }
}

#if FAIL_POINTS
    /// Arms a single fail point of this process, see ``FailPoint``. For tests, in debug builds only: no header declares
    /// the function, and the installed library does not export it.
    @c(sharedcore_arm_fail_point)
    public func armFailPoint(_ place: UnsafePointer<CChar>?) {
        if let place { FailPoint.armOnly(String(cString: place)) }
    }
#endif
