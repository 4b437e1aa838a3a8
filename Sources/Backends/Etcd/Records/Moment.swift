#if Etcd
    internal import CoreAPI
    internal import Platform

    /// A time by the clock of one boot of one machine.
    struct Moment: Hashable, Sendable {
        let bootID: BootID
        let instant: BootInstant

        init(bootID: BootID, instant: BootInstant) {
            self.bootID = bootID
            self.instant = instant
        }

        init(now clock: any TimeSource) {
            self.init(bootID: clock.bootID, instant: clock.now())
        }

        init(from reader: inout ByteReader) throws(ByteCodingError) {
            bootID = try reader.bootID()
            instant = BootInstant(nanoseconds: try reader.word())
        }

        func write(to writer: inout ByteWriter) {
            writer.bootID(bootID)
            writer.word(instant.nanoseconds)
        }

        /// Returns the same time by the local clock. A time of another machine's clock cannot be converted. The present
        /// time, at which the record was received, takes its place: an entry then expires late, never early.
        func local(to clock: any TimeSource) -> BootInstant {
            isLocal(to: clock) ? instant : clock.now()
        }

        /// Returns whether the time is of the local clock. A zero boot id matches no clock.
        private func isLocal(to clock: any TimeSource) -> Bool {
            bootID == clock.bootID
                && ((bootID.high, bootID.low) != (0, 0) || EtcdDefect.namelessBoot.isPresent)
        }
    }
#endif
