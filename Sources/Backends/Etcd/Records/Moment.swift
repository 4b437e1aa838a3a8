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
            bootID = BootID(high: try reader.word(), low: try reader.word())
            instant = BootInstant(nanoseconds: try reader.word())
        }

        func write(to writer: inout ByteWriter) {
            writer.word(bootID.high)
            writer.word(bootID.low)
            writer.word(instant.nanoseconds)
        }

        /// The same time by the clock here. What another machine's clock says means nothing here: then it is now, when it is
        /// first heard of, and so never early.
        func local(to clock: any TimeSource) -> BootInstant {
            isLocal(to: clock) ? instant : clock.now()
        }

        /// Whether the clock is the one here. A run of a machine that has no name is nobody's.
        private func isLocal(to clock: any TimeSource) -> Bool {
            bootID == clock.bootID
                && ((bootID.high, bootID.low) != (0, 0) || EtcdDefect.namelessBoot.isPresent)
        }
    }
#endif
