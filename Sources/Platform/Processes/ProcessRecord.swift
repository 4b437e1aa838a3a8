/// What the system's record of a process or of one of its threads says, the line of `/proc/<pid>/stat`.
///
/// Taken from the bytes as they are: whoever joins a group of a hundred reads a hundred of them.
struct ProcessRecord {
    /// Field 3, a letter.
    let state: UInt8
    /// Bit 2 of field 9, PF_EXITING.
    let isExiting: Bool
    /// Field 22, in ticks of the machine's own clock: the system adds what the clock of this process's namespace is ahead.
    let startTime: UInt64

    /// Nil for bytes of another form.
    init?(_ line: [UInt8]) {
        // The second field is the program's name in parentheses and may hold anything, so count from its last one.
        guard let name = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(name + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 19, let state = fields[0].first, let flags = Self.number(fields[6]),
            let ticks = Self.number(fields[19])
        else { return nil }
        self.state = state
        isExiting = flags & 0x4 != 0
        startTime = UInt64(bitPattern: Int64(bitPattern: ticks) &- TimeNamespace.tickOffset)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !isOver else { return nil }
            number = sum
        }
        return digits.isEmpty ? nil : number
    }
}
