import CoreAPI
import CoreAPITesting
import Glibc
import TestSupport
import Testing

@testable import Coordination

@Suite("Witness: what really runs (C15)")
struct WitnessTests {
    /// A witness to test, with the objects that must live as long as it.
    struct Subject: Sendable, CustomStringConvertible {
        let description: String
        let make: @Sendable () throws -> (witness: any Witness, keeps: TemporaryDirectory?)

        static let all = [
            Subject(description: "memory") { (MemoryWitness(), nil) },
            Subject(description: "file") {
                let directory = try TemporaryDirectory()
                return (FileWitness(path: directory.path(of: "witness")), directory)
            },
        ]
    }

    private func epoch(_ number: UInt64) -> Revision { Revision(rawValue: number) }

    @Test("C15: a core alone sees none, a second sees the first", arguments: Subject.all)
    func second(subject: Subject) throws {
        let (witness, keeps) = try subject.make()
        let first = try witness.begin(epoch: epoch(7))
        #expect(first.others.isEmpty)
        let second = try witness.begin(epoch: epoch(3))
        #expect(second.others == [epoch(7)])
        #expect(try first.currentOthers() == [epoch(3)])
        #expect(first.others.isEmpty, "what it saw when it began does not change")
        first.end()
        #expect(try second.currentOthers().isEmpty)
        second.end()
        withExtendedLifetime(keeps) {}
    }

    @Test("C15: the witness sees all running cores, however many, and whatever their epochs", arguments: Subject.all)
    func many(subject: Subject) throws {
        let (witness, keeps) = try subject.make()
        let epochs = ([1, 2, 3, 4, 1000, 1 << 32, (1 << 32) + 1, 1 << 62] as [UInt64]).map(Revision.init)
        var holds: [any WitnessHold] = []
        for (index, epoch) in epochs.enumerated().reversed() {
            let hold = try witness.begin(epoch: epoch)
            #expect(hold.others == Array(epochs[(index + 1)...]))
            holds.append(hold)
        }
        let last = try witness.begin(epoch: epoch(500))
        #expect(last.others == epochs)
        for hold in holds { hold.end() }
        #expect(try last.currentOthers().isEmpty)
        withExtendedLifetime(keeps) {}
    }

    @Test("C15: neighbours that are locked in any order are told apart", arguments: Seed.several(4))
    func randomEpochs(seed: Seed) throws {
        var random = SeededRandom(seed)
        for subject in Subject.all {
            let (witness, keeps) = try subject.make()
            var running: [UInt64: any WitnessHold] = [:]
            for _ in 0..<150 {
                let number = UInt64.random(in: 1...24, using: &random)
                if let hold = running.removeValue(forKey: number) {
                    hold.end()
                } else {
                    let hold = try witness.begin(epoch: epoch(number))
                    #expect(hold.others == running.keys.sorted().map(epoch))
                    running[number] = hold
                }
            }
            withExtendedLifetime(keeps) {}
        }
    }

    @Test("C15: ending twice does no harm, and releasing the last reference ends as well", arguments: Subject.all)
    func ending(subject: Subject) throws {
        let (witness, keeps) = try subject.make()
        let observer = try witness.begin(epoch: epoch(1))
        let again = try witness.begin(epoch: epoch(2))
        again.end()
        again.end()
        #expect(try observer.currentOthers().isEmpty)
        var dropped: (any WitnessHold)? = try witness.begin(epoch: epoch(3))
        #expect(try observer.currentOthers() == [epoch(3)])
        dropped = nil
        #expect(dropped == nil)
        #expect(try observer.currentOthers().isEmpty)
        #expect(try again.currentOthers() == [epoch(1)])
        withExtendedLifetime(keeps) {}
    }

    @Test("C15: a second core of the same epoch is seen too", arguments: Subject.all)
    func sameEpoch(subject: Subject) throws {
        let (witness, keeps) = try subject.make()
        let first = try witness.begin(epoch: epoch(5))
        let second = try witness.begin(epoch: epoch(5))
        #expect(second.others == [epoch(5)])
        second.end()
        let third = try witness.begin(epoch: epoch(6))
        #expect(third.others == [epoch(5)], "the first still runs")
        withExtendedLifetime((first, keeps)) {}
    }

    @Test("C15: of many that begin at once, at most one sees no other", arguments: Subject.all)
    func together(subject: Subject) async throws {
        let (witness, keeps) = try subject.make()
        for round in 0..<2_000 {
            let holds = try await CoreAPITesting.together(2) { number in
                try witness.begin(epoch: Revision(rawValue: UInt64(round * 2 + number + 1)))
            }
            #expect(holds.filter { $0.others.isEmpty }.count <= 1)
            for hold in holds { hold.end() }
        }
        withExtendedLifetime(keeps) {}
    }

    @Test("E2: an epoch beyond a file's offsets, and a file that cannot be, are typed errors")
    func typedErrors() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: SharedCoreError.self) {
            try FileWitness(path: directory.path(of: "witness")).begin(epoch: Revision(rawValue: .max))
        }
        #expect(throws: SharedCoreError.self) {
            try FileWitness(path: directory.path(of: "no/witness")).begin(epoch: Revision(rawValue: 1))
        }
        // Files on which another process would not see locks, or on which an `open` would block.
        #expect(mkfifo(directory.path(of: "pipe"), 0o600) == 0)
        #expect(symlink("elsewhere", directory.path(of: "link")) == 0)
        for (name, kind) in [("pipe", "a FIFO"), ("link", "a symbolic link"), (".", "a directory")] {
            let error = #expect(throws: SharedCoreError.self) {
                try FileWitness(path: directory.path(of: name)).begin(epoch: Revision(rawValue: 1))
            }
            #expect(error?.code == .corrupt && error?.message.contains(kind) == true, "\(String(describing: error))")
        }
    }
}
