public import CoreAPI
internal import Glibc

/// The clock of the machine's run, which counts suspension and which nobody can set.
public struct LinuxClock: TimeSource {
    public let bootID: BootID

    public init() {
        bootID = Self.readBootID()
    }

    public func now() -> BootInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return BootInstant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    public func sleep(until instant: BootInstant) async throws(CancellationError) {
        while now() < instant {
            // Not longer at once: the machine may sleep, and the clock of the tasks does not count that.
            let pause = min(now().duration(to: instant), .seconds(1))
            do { try await Task.sleep(for: pause) } catch { throw CancellationError() }
        }
    }

    private static func readBootID() -> BootID {
        let text = textOfFile("/proc/sys/kernel/random/boot_id") ?? ""
        let digits = text.filter(\.isHexDigit)
        return BootID(
            high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.dropFirst(16), radix: 16) ?? 0)
    }
}

/// The beginning of a small file; nil when there is none.
func textOfFile(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self)
}
