internal import Coordination
internal import CoreAPI
internal import Glibc
internal import Platform

/// A process of another user that wants a baton: `<record in hexadecimal>`.
///
/// It gives up its user, asks the keeper over a socket of its own, then as an owner does, and prints the two outcomes.
enum ForeignProgram {
    static func run(_ words: [String]) async {
        do {
            guard words.count == 1, let bytes = decode(words[0]) else {
                throw SharedCoreError(.invalidArgument, "One argument.", at: "arguments")
            }
            let record = BatonRecord(bytes: bytes)
            guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0
            else { throw SharedCoreError(.forbidden, "This user cannot become another.", at: "setuid") }
            print(try ask(record))
            print(await CoordinationEnvironment().system.batons.fetch(record))
        } catch {
            print("failed \(error)")
        }
        fflush(nil)
    }

    private static func ask(_ record: BatonRecord) throws -> String {
        let connection = try MessageSocket(connectingTo: record.keepers[0])
        // A keeper that has closed the connection already counts like one that closes it later.
        guard (try? connection.send(Array("sharedcore-baton 1 \(record.epoch)".utf8))) != nil else { return "closed" }
        while Poll.wait(for: [connection.descriptor], timeout: .seconds(30))[0] {
            switch connection.receive(upTo: 64, files: 16) {
            case .nothing: continue
            case .end: return "closed"
            case .message(_, let files): return "answered with \(files.count) files"
            case .tooLong: return "answered"
            }
        }
        return "not answered"
    }

    private static func decode(_ text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
