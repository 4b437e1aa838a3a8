#if Etcd
    internal import CoreAPI
    internal import Platform

    /// A time by the clock of one run of one machine.
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

        /// Returns the same time by the clock here. Another machine's clock means nothing here: then the time is now,
        /// when it is first received, and so never early.
        func local(to clock: any TimeSource) -> BootInstant {
            isLocal(to: clock) ? instant : clock.now()
        }

        /// Returns whether the clock is the one here. An unnamed run of a machine matches no clock.
        private func isLocal(to clock: any TimeSource) -> Bool {
            bootID == clock.bootID
                && ((bootID.high, bootID.low) != (0, 0) || EtcdDefect.namelessBoot.isPresent)
        }
    }
#endif
