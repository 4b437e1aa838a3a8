internal import Foundation
internal import Testing

@Suite("The architecture is drawn from what is there")
struct ArchitectureTests {
    @Test("The pictures' arrows are those of Package.swift, and no more")
    func arrows() throws {
        let declared = try Rooms.declared().arrows()
        #expect(declared.count > 40)
        let drawn = try Rooms.drawn().arrows()
        #expect(declared.subtracting(drawn).sorted() == [], "not drawn")
        #expect(drawn.subtracting(declared).sorted() == [], "not there")
    }

    @Test("Arrows lead downward: from one layer of the picture to the same or a lower one")
    func layers() throws {
        var layers: [String: Int] = [:]
        var layer = 0
        for line in try Repository.text("Docs/Architecture.md").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "subgraph" { layer += 1 }
            if line.hasPrefix("        "), words.count == 1 { layers[String(words[0])] = layer }
        }
        #expect(layers.count > 25)
        for (room, others) in try Rooms.drawn().known {
            for other in others {
                guard let from = layers[room], let to = layers[other] else { continue }
                #expect(from <= to, "\(room) knows \(other)")
            }
        }
    }

    @Test("Each file that the ways name is there")
    func files() throws {
        let names = try Repository.text("Docs/Architecture.md").matches(of: #/`([\w+\/]+\/[\w+]+\.swift)`/#).map(\.1)
        #expect(names.count > 30)
        for name in names {
            let path = Repository.root.appending(path: "Sources/\(name)").path
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }
}
