internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("RFC 2045, RFC 2231: the parameters of a content type")
struct ContentParametersTests {
    @Test(
        "Boundary and character set are read as mail programs write them",
        arguments: [
            ("text/plain; charset=utf-8", nil, "utf-8"), ("multipart/mixed;boundary=a", "a", nil),
            (" multipart/mixed;\r\n\tboundary=\"a b;c\";\r\n charset=x\r\n", "a b;c", "x"),
            ("a/b; BOUNDARY=\"a\\\"b\\\\c\"", "a\"b\\c", nil), ("a/b; boundary = a b ; charset= c ", "a b", "c"),
            ("a/b; (c; d) boundary (e) = (f\\) (g)) a", "a", nil), ("a/b; charset=x; charset=y", nil, "x"),
            ("a/b; boundary*0=a; boundary*1=\"b c\"; boundary*2=d", "ab cd", nil),
            ("a/b; boundary*1=b; boundary*0*=us-ascii'en'a%20; boundary*2*=%63%zz", "a bc%zz", nil),
            ("a/b; charset*=us-ascii''utf%2D8", nil, "utf-8"), ("a/b; charset*=utf-8", nil, "utf-8"),
            ("a/b; boundary='it'", "'it'", nil), ("a/b; boundary=\"=?a?q?b?=\"", "=?a?q?b?=", nil),
            ("a/b; format flowed; charset=x", nil, "x"), ("a/b; name=\"x; charset=y", nil, nil),
            ("a/b; xcharset=y; charset-x=z; charset", nil, nil), ("a/b; boundary=", "", nil), ("", nil, nil),
            ("charset=x", nil, nil), ("a/b;;;charset=x;", nil, "x"), ("a/b; charset*99999999999999999999=x", nil, "x"),
        ] as [(String, String?, String?)])
    func reading(_ field: String, _ boundary: String?, _ characterSet: String?) {
        let parameters = ContentParameters(Array(field.utf8)[...])
        #expect(parameters.boundary.map { String(decoding: $0, as: UTF8.self) } == boundary)
        #expect(parameters.characterSet.map { String(decoding: $0, as: UTF8.self) } == characterSet)
    }

    @Test("Any bytes are some parameters", arguments: Seed.several(3))
    func anything(_ seed: Seed) {
        var random = SeededRandom(seed)
        let pieces = ["a/b;", "boundary", "charset", "*", "0", "=", "\"", "\\", "(", ")", ";", "%4", "'", "\n ", "x"]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &random)
            let field = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            let parameters = ContentParameters(Array(field.utf8)[...])
            #expect((parameters.boundary?.count ?? 0) <= field.utf8.count)
        }
    }
}
