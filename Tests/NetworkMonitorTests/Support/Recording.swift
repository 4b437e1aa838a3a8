internal import Glibc
internal import Platform
internal import TestSupport

/// The reports of a kernel while a network changed, step by step (see the script `Recorded/record`).
struct Recording {
    struct Step {
        let name: String
        var datagrams: [[UInt8]] = []
    }

    let steps: [Step]

    init() throws {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(
            separator: "/")
        let file = try OpenFile(path: folder + "/Recorded/recorded.txt", .read)
        let text = String(decoding: try file.read(count: 1 << 20, at: 0), as: UTF8.self)
        var steps: [Step] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                steps.append(Step(name: String(line.dropFirst(2))))
            } else {
                guard !steps.isEmpty, let datagram = Self.datagram(line) else {
                    throw FileProblem(path: file.path, code: EINVAL)
                }
                steps[steps.count - 1].datagrams.append(datagram)
            }
        }
        self.steps = steps
    }

    func step(_ name: String) throws -> Step {
        guard let step = steps.first(where: { $0.name == name }) else { throw FileProblem(path: name, code: ENOENT) }
        return step
    }

    private static func datagram(_ line: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        for word in line.split(separator: " ") {
            if word.hasPrefix("*") {
                guard let count = Int(word.dropFirst()) else { return nil }
                bytes += [UInt8](repeating: 0, count: count)
                continue
            }
            var digits = word
            while !digits.isEmpty {
                guard let byte = UInt8(digits.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                digits = digits.dropFirst(2)
            }
        }
        return bytes
    }
}
