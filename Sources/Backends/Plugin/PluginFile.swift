internal import CoreAPI
internal import Platform

/// Checks the file of a plugin before the dynamic linker maps it: a process that touches a mapped page behind the end of
/// its file is ended by SIGBUS.
///
/// Source: elf(5).
enum PluginFile {
    /// Checks that a file is a shared library for this machine, and that it has all bytes of its loaded segments.
    ///
    /// - Throws: `unsupported` with the reason.
    static func check(_ path: String) throws(SharedCoreError) {
        let problem: String?
        do throws(SystemCallError) {
            let file = try OpenFile(path: path, .read)
            let byteCount = try file.status().byteCount
            problem = try self.problem(ofByteCount: UInt64(byteCount)) { offset, count throws(SystemCallError) in
                try file.read(count: count, at: Int(offset))
            }
        } catch {
            throw SharedCoreError(error)
        }
        guard let problem else { return }
        throw SharedCoreError(.unsupported, "The plugin cannot be loaded: its file \(problem).", at: path)
    }

    /// Returns the reason why a file cannot be loaded; nil if none is seen.
    ///
    /// - Parameter read: Reads bytes at an offset, fewer at the end of the file.
    private static func problem(
        ofByteCount byteCount: UInt64, read: (_ offset: UInt64, _ count: Int) throws(SystemCallError) -> [UInt8]
    ) throws(SystemCallError) -> String? {
        if byteCount == 0 { return "is empty" }
        let header = try read(0, Header.byteCount)
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return "is no shared library (ELF)" }
        guard header.count == Header.byteCount else { return "is cut off after \(byteCount) bytes" }
        guard header[4] == 2 else { return "is not one of 64 bits" }
        guard header[5] == 1 else { return "has another order of bytes than this machine" }
        guard header.number(at: 16, byteCount: 2) == Header.sharedObject else { return "is no shared library" }
        if let machine = Header.machine, header.number(at: 18, byteCount: 2) != machine {
            return "is for another machine (\(header.number(at: 18, byteCount: 2)), not \(machine))"
        }
        let (offset, count) = (header.number(at: 32, byteCount: 8), header.number(at: 56, byteCount: 2))
        guard header.number(at: 54, byteCount: 2) == UInt64(Segment.byteCount), count > 0 else {
            return "has no table of segments"
        }
        // The dynamic linker reads the table onto its stack.
        guard count <= Segment.mostCount else {
            return "has \(count) segments, more than \(Segment.mostCount)"
        }
        let tableByteCount = Int(count) * Segment.byteCount
        guard byteCount >= UInt64(tableByteCount), offset <= byteCount - UInt64(tableByteCount) else {
            return "is cut off after \(byteCount) bytes, before the end of its table of segments"
        }
        let table = try read(offset, tableByteCount)
        guard table.count == tableByteCount else { return "has become shorter" }
        for start in stride(from: 0, to: tableByteCount, by: Segment.byteCount)
        where table.number(at: start, byteCount: 4) == Segment.loaded {
            let (end, overflow) = table.number(at: start + 8, byteCount: 8)
                .addingReportingOverflow(table.number(at: start + 32, byteCount: 8))
            guard !overflow, end <= byteCount else {
                return "is cut off after \(byteCount) bytes, before the end of a segment"
            }
        }
        return nil
    }

    private enum Header {
        static let byteCount = 64
        /// `ET_DYN`.
        static let sharedObject: UInt64 = 3
        /// The number of this machine; nil if it is not known here.
        static var machine: UInt64? {
            #if arch(x86_64)
                62
            #elseif arch(arm64)
                183
            #elseif arch(riscv64)
                243
            #else
                nil
            #endif
        }
    }

    private enum Segment {
        static let byteCount = 56
        /// Far more than a library has.
        static let mostCount: UInt64 = 512
        /// `PT_LOAD`.
        static let loaded: UInt64 = 1
    }
}

extension [UInt8] {
    /// Returns the little-endian number at an offset, which must be inside.
    fileprivate func number(at offset: Int, byteCount: Int) -> UInt64 {
        self[offset..<(offset + byteCount)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
