internal import CoreAPI
internal import Platform
internal import StoreEngine

/// The constant part of a journal's first page: the page is complete before the file has its name.
///
/// The page begins with a magic word and the version of the layout, readable in every version. A frame with this header
/// follows. From ``wordsOffset`` on it holds the words that change; see ``Journal``.
struct JournalHeader: Hashable, Sendable {
    /// The place at which a reader continues after it has applied the predecessor.
    struct Continuation: Hashable, Sendable {
        /// The tail at which the predecessor was sealed.
        let predecessorTail: Int
        /// The offset in this journal of the records behind that tail.
        let offset: Int
        /// The chain of the frames before that place.
        let chain: UInt64
    }

    /// How its frames are written.
    let framing: JournalChain.Framing
    /// The position of this journal in the sequence of the group's journals, from 1.
    let generation: UInt64
    /// The number of restarts of the group's machine during the group's life.
    let incarnation: UInt64
    /// The boot of the machine in which it was created.
    let bootID: BootID
    /// The first value of the chain of its frames.
    let salt: UInt64
    /// True if the journal's frames begin with a snapshot. A journal without one can only be read after its
    /// predecessor.
    let hasSnapshot: Bool
    /// The continuation of its predecessor; nil when there is none: the group's first journal, and the first after a
    /// restart of the machine.
    let continuation: Continuation?

    static let magic: UInt64 = 0x314c_4e4a_4353_4853
    /// The version of all that the processes of a group have to agree on, the assignment of wake channels included.
    static let layoutVersion: UInt64 = 5
    /// The first version in which frames have a header of their own.
    private static let headedVersion: UInt64 = 4
    /// The versions from which this program can salvage records; see ``SalvagedGroup``.
    static let salvagedVersions: ClosedRange<UInt64> = 3...layoutVersion
    /// The valid numbers of journals and of incarnations. Counting never reaches the end in practice.
    static let numbers: ClosedRange<UInt64> = 1...(1 << 62 - 1)
    /// The offset of the first changing word in the page.
    static let wordsOffset = 1024
    /// The offset of the first frame in the file.
    static let byteCount = MappedPage.byteCount

    /// The beginning of the page.
    var bytes: [UInt8] {
        var payload = ByteWriter()
        payload.integer(generation)
        payload.integer(incarnation)
        payload.bootID(bootID)
        payload.word(salt)
        payload.flag(hasSnapshot)
        payload.optional(continuation) { bytes, continuation in
            bytes.integer(continuation.predecessorTail)
            bytes.integer(continuation.offset)
            bytes.word(continuation.chain)
        }
        var chain = JournalChain(salt: Self.magic)
        var page = ByteWriter()
        page.word(Self.magic)
        page.word(Self.layoutVersion)
        return page.bytes + chain.frame(payload.bytes, interest: WakeChannels.all.interestMask)
    }

    init(
        generation: UInt64, incarnation: UInt64, bootID: BootID, salt: UInt64, hasSnapshot: Bool,
        continuation: Continuation?
    ) {
        framing = .headed
        self.generation = generation
        self.incarnation = incarnation
        self.bootID = bootID
        self.salt = salt
        self.hasSnapshot = hasSnapshot
        self.continuation = continuation
    }

    /// Reads the beginning of a page.
    ///
    /// - Throws: `incompatible` for another version of the layout, `corrupt` for bytes that no version writes.
    init(
        page: [UInt8], versions: ClosedRange<UInt64> = layoutVersion...layoutVersion, at path: String
    ) throws(SharedCoreError) {
        var reader = ByteReader(page)
        guard page.count > 16, let magic = try? reader.word(), magic == Self.magic, let version = try? reader.word()
        else { throw Self.corrupt(at: path) }
        guard versions.contains(version) else {
            throw .layout(version, known: Self.layoutVersion, at: path)
        }
        framing = version >= Self.headedVersion ? .headed : .plain
        var chain = JournalChain(salt: Self.magic, framing: framing)
        guard case .frame(let range) = chain.read(page[16...]) else { throw Self.corrupt(at: path) }
        do throws(ByteCodingError) {
            var payload = ByteReader(page[range])
            generation = try payload.integer()
            incarnation = try payload.integer()
            bootID = try payload.bootID()
            salt = try payload.word()
            hasSnapshot = try payload.flag()
            continuation = try payload.optional { payload throws(ByteCodingError) in
                let tail = try payload.offset()
                let offset = try payload.offset()
                return Continuation(predecessorTail: tail, offset: offset, chain: try payload.word())
            }
        } catch {
            throw Self.corrupt(at: path)
        }
        guard Self.numbers.contains(generation), Self.numbers.contains(incarnation) else {
            throw Self.corrupt(at: path)
        }
    }

    private static func corrupt(at path: String) -> SharedCoreError {
        SharedCoreError(
            .corrupt,
            "The file does not begin with the header of a journal: it is damaged. When no process has the group open, “sharedcore "
                + "salvage DIRECTORY --into NEW” writes what is left as a backup, for “restore”.",
            at: path)
    }
}

extension ByteReader {
    /// Reads an offset in a file, small enough for arithmetic without overflow.
    fileprivate mutating func offset() throws(ByteCodingError) -> Int {
        let value = try integer()
        guard value < 1 << 62 else { throw .malformed }
        return Int(value)
    }
}
