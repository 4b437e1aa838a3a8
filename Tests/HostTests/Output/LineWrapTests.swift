internal import ProgramOutput
internal import Testing

@testable internal import SharedCoreHost

@Suite("Lines on a narrow terminal")
struct LineWrapTests {
    @Test("A line that fits is unchanged, a wider one continues below its second column")
    func wraps() {
        #expect(LineWrap.lines(of: "owner     none", width: 20) == ["owner     none"])
        #expect(
            LineWrap.lines(of: "store     2 keys (8 bytes), 1 name (2 bytes)", width: 24)
                == ["store     2 keys (8", "          bytes), 1 name", "          (2 bytes)"])
        #expect(LineWrap.lines(of: "key  /a/path/that/is/too/wide  default", width: 12).first == "key")
        #expect(LineWrap.lines(of: "word", width: 2) == ["word"])
        #expect(LineWrap.lines(of: "", width: 2) == [""])
        let long = (0..<100).map { "word\($0)" }.joined(separator: " ")
        for width in 9..<120 {
            let lines = LineWrap.lines(of: "name  " + long, width: width)
            #expect(lines.allSatisfy { $0.count <= width + 4 })
            #expect(lines.flatMap { $0.split(separator: " ") }.joined(separator: " ") == "name " + long)
        }
    }

    @Test("The locale is that of the first variable that is set; only UTF-8 has typographic characters")
    func locale() {
        func isUTF8(_ variables: [String: String]) -> Bool { ProgramText.isUTF8 { variables[$0] } }
        #expect(isUTF8(["LANG": "de_DE.UTF-8"]) && isUTF8(["LC_CTYPE": "C.utf8", "LANG": "C"]))
        #expect(!isUTF8([:]) && !isUTF8(["LANG": "C"]) && !isUTF8(["LANG": "POSIX"]) && !isUTF8(["LANG": "en_US"]))
        #expect(!isUTF8(["LC_ALL": "C", "LANG": "de_DE.UTF-8"]) && isUTF8(["LC_ALL": "", "LANG": "C.UTF-8"]))
        #expect(ProgramText.inASCII("“a” – ‘b’…") == "\"a\" - 'b'...")
    }
}
