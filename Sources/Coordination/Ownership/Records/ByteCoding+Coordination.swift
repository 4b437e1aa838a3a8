internal import CoreAPI

extension ByteWriter {
    mutating func process(_ process: ProcessIdentity) {
        word(process.bootID.high)
        word(process.bootID.low)
        halfWord(UInt32(bitPattern: process.pid))
        integer(process.startTime)
    }

    mutating func duration(_ duration: Duration) {
        integer(duration.clampedNanoseconds)
    }

    mutating func instant(_ instant: BootInstant) {
        integer(instant.nanoseconds)
    }

    mutating func revision(_ revision: Revision) {
        integer(revision.rawValue)
    }
}

extension ByteReader {
    mutating func process() throws(ByteCodingError) -> ProcessIdentity {
        let boot = BootID(high: try word(), low: try word())
        return ProcessIdentity(bootID: boot, pid: Int32(bitPattern: try halfWord()), startTime: try integer())
    }

    mutating func duration() throws(ByteCodingError) -> Duration {
        .nanoseconds(Int64(clamping: try integer()))
    }

    mutating func instant() throws(ByteCodingError) -> BootInstant {
        BootInstant(nanoseconds: try integer())
    }

    mutating func revision() throws(ByteCodingError) -> Revision {
        Revision(rawValue: try integer())
    }
}
