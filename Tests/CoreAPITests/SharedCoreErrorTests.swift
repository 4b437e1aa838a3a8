internal import CoreAPI
internal import Testing

@Suite("E1: one error type, with a code, a message for people, the place and the cause")
struct SharedCoreErrorTests {
    @Test("E1: the description names code, message, place and cause")
    func descriptionNamesAll() {
        let plain = SharedCoreError(.forbidden, "The directory is open to others.", at: "/some/where")
        #expect(plain.description == "forbidden: The directory is open to others. [/some/where]")
        let caused = SharedCoreError(
            .system, "The file could not be opened.", at: "/f", cause: "EIO: Input/output error")
        #expect(caused.description == "system: The file could not be opened. [/f] (EIO: Input/output error)")
    }

    @Test("S5: the error of a failed guard has the guard's index and the present entry")
    func guardFailureIsTold() {
        let found = Entry(
            key: "k", value: [1], revision: Revision(rawValue: 9), creationRevision: Revision(rawValue: 7),
            lifetime: .persistent, origin: SessionID(rawValue: 3))
        let present = SharedCoreError(GuardFailure(index: 2, condition: .absent("k"), found: found))
        #expect(present.code == .guardFailed)
        #expect(present.guardFailure?.found == found)
        #expect(present.location == "k")
        for part in ["2", "k", "9", "7"] { #expect(present.message.contains(part)) }
        let missing = SharedCoreError(GuardFailure(index: 0, condition: .exists("k"), found: nil))
        #expect(missing.message.contains("the key is absent"))
    }

    @Test("E1: a code is read from its name, as another process sends it")
    func codesByName() {
        #expect(SharedCoreError.Code(name: SharedCoreError.Code.outcomeUnknown.description) == .outcomeUnknown)
        #expect(SharedCoreError.Code(name: "outcomeunknown") == nil)
    }

    @Test("L2: a boot id has 16 bytes, the first ones first")
    func bootIDs() {
        let bytes = (1...16).map { UInt8($0 * 15) }
        let id = BootID(bytes: bytes)
        #expect(id == BootID(high: 0x0f1e_2d3c_4b5a_6978, low: 0x8796_a5b4_c3d2_e1f0))
        #expect(id?.bytes == bytes)
        #expect(id.flatMap { BootID(hexadecimal: $0.description) } == id)
        #expect(BootID(bytes: bytes.dropLast()) == nil && BootID(bytes: bytes + [0]) == nil)
    }

    @Test("E1: codes are told apart and have their names")
    func codesAreDistinct() {
        let codes: [SharedCoreError.Code] = [
            .invalidArgument, .limitExceeded, .guardFailed, .closed, .sessionEnded, .cancelled, .outcomeUnknown,
            .unsupported, .storageFull, .forbidden, .unavailable, .incompatible, .corrupt, .system,
        ]
        #expect(Set(codes).count == 14)
        #expect(Set(codes.map(\.description)).count == 14)
        #expect(SharedCoreError.Code.outcomeUnknown.description == "outcomeUnknown")
    }
}
