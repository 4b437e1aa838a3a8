/// The messages of RFC 4475, octet by octet as in its Appendix A.
struct TortureMessage: Sendable, CustomStringConvertible {
    /// A status, `none` for no answer, or `rings` for 180, and 603 after the call is declined. Over TCP with `closed`
    /// if the telephone closes the connection, and with `stalled` if it reads no more from this one.
    typealias Outcome = String

    let section: String
    let name: String
    let bytes: [UInt8]
    /// The outcomes that the RFC demands or permits for a telephone.
    let permitted: [Outcome]
    /// The outcome over UDP, and for messages whose Via names TCP or TLS the outcome over TCP. The one with TLS is sent
    /// with TCP in its Via.
    let overUDP: Outcome
    let overTCP: Outcome?
    /// The reason for an outcome that the RFC does not have.
    let reason: String?

    var description: String { "\(section) \(name)" }

    init(
        _ section: String, _ name: String, _ permitted: Outcome..., udp: Outcome, tcp: Outcome? = nil,
        because reason: String? = nil, _ head: String, _ body: String = ""
    ) {
        self.init(section, name, permitted, udp, tcp, reason, Self.crlf(head + "\n\n" + body))
    }

    private init(
        _ section: String, _ name: String, _ permitted: [Outcome], _ udp: Outcome, _ tcp: Outcome?, _ reason: String?,
        _ bytes: [UInt8]
    ) {
        self.section = section
        self.name = name
        self.bytes = bytes
        self.permitted = permitted
        overUDP = udp
        overTCP = tcp
        self.reason = reason
    }

    private static func crlf(_ text: String) -> [UInt8] { text.utf8.flatMap { $0 == 10 ? [13, 10] : [$0] } }

    private static func sdp(_ origin: String, _ connection: String? = nil, time: String = "0 0") -> String {
        "v=0\no=mhandley 29739 7272939 IN IP4 \(origin)\ns=-\nc=IN IP4 \(connection ?? origin)\nt=\(time)\n"
            + "m=audio 49217 RTP/AVP 0 12\nm=video 3227 RTP/AVP 31\na=rtpmap:31 LPC\n"
    }

    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static let noTransport = "libsofia-sip-ua drops a message whose Via names another transport than its own."

    static let all = valid + invalid + transactions + applications

    // MARK: 3.1.1 Valid messages

    private static let valid: [TortureMessage] = [
        .init(
            "3.1.1.1", "wsinv", "481", udp: "481",
            #"""
            INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
            TO :
             sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
            from   : "J Rosenberg \\\""       <sip:jdrosen@example.com>
              ;
              tag = 98asjd8
            MaX-fOrWaRdS: 0068
            Call-ID: wsinv.ndaksdj@192.0.2.1
            Content-Length   : 150
            cseq: 0009
              INVITE
            Via  : SIP  /   2.0
             /UDP
                192.0.2.2;branch=390skdjuw
            s :
            NewFangledHeader:   newfangled value
             continued newfangled value
            UnknownHeaderWithUnusualValue: ;;,,;;,;
            Content-Type: application/sdp
            Route:
             <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
            v:  SIP  / 2.0  / TCP     spindle.example.com   ;
              branch  =   z9hG4bK9ikj8  ,
             SIP  /    2.0   / UDP  192.168.255.111   ; branch=
             z9hG4bK30239
            m:"Quoted string \"\"" <sip:jdrosen@example.com> ; newparam =
                  newvalue ;
              secondparam ; q = 0.33
            """#, sdp("192.0.2.3", "192.0.2.4")),
        .init(
            "3.1.1.2", "intmeth", "405", "501", udp: "none", tcp: "none, stalled",
            because: "libsofia-sip-ua does not read this name of a method.",
            #"""
            !interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0
            Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~
            To: "BEL:\\#u{7} NUL:\\#u{0} DEL:\\#u{7F}" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
            From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="работающий";tag=_token~1'+`*%!-.
            Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\/"][?}{
            CSeq: 139122385 !interesting-Method0123456789_*+`.%indeed'~
            Max-Forwards: 255
            extensionHeader-!.%*+_`'~:\#u{FEFF}大停電
            Content-Length: 0
            """#),
        .init(
            "3.1.1.3", "esc01", "rings", udp: "rings",
            """
            INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0
            To: sip:%75se%72@example.com
            From: <sip:I%20have%20spaces@example.net>;tag=938
            Max-Forwards: 87
            i: esc01.239409asdfakjkn23onasd0-3234
            CSeq: 234234 INVITE
            Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bKkdjuw
            C: application/sdp
            Contact:
              <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>
            Content-Length: 150
            """, sdp("192.0.2.1")),
        .init(
            "3.1.1.4", "escnull", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            To: sip:null-%00-null@example.com
            From: sip:null-%00-null@example.com;tag=839923423
            Max-Forwards: 70
            Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd
            CSeq: 14398234 REGISTER
            Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
            Contact: <sip:%00@host5.example.com>
            Contact: <sip:%00%00@host5.example.com>
            L:0
            """),
        .init(
            "3.1.1.5", "esc02", "405", "501", udp: "none", tcp: "405", because: noTransport,
            """
            RE%47IST%45R sip:registrar.example.com SIP/2.0
            To: "%Z%45" <sip:resource@example.com>
            From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
            Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
            Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
            CSeq: 29344 RE%47IST%45R
            Max-Forwards: 70
            Contact: <sip:alias1@host1.example.com>
            C%6Fntact: <sip:alias2@host2.example.com>
            Contact: <sip:alias3@host3.example.com>
            l: 0
            """),
        .init(
            "3.1.1.6", "lwsdisp", "200", udp: "200",
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:user@example.com
            From: caller<sip:caller@example.com>;tag=323
            Max-Forwards: 70
            Call-ID: lwsdisp.1234abcd@funky.example.com
            CSeq: 60 OPTIONS
            Via: SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
            l: 0
            """),
        .init(
            "3.1.1.7", "longreq", "rings", udp: "none", tcp: "rings", because: noTransport,
            """
            INVITE sip:user@example.com SIP/2.0
            To: "I have a user name of \(many("extreme", 10)) proportion"<sip:user@example.com:6000;unknownparam1=very\(many("long", 20))value;longparam\(many("name", 25))=shortvalue;very\(many("long", 25))ParameterNameWithNoValue>
            F: sip:\(many("amazinglylongcallername", 5))@example.net;tag=1\(many("298", 50))2424;unknownheaderparam\(many("name", 20))=unknowheaderparam\(many("value", 15));unknownValueless\(many("paramname", 10))
            Call-ID: longreq.one\(many("really", 20))longcallid
            CSeq: 3882340 INVITE
            Unknown-\(many("Long", 20))-Name: unknown-\(many("long", 20))-value; unknown-\(many("long", 20))-parameter-name = unknown-\(many("long", 20))-parameter-value
            Via: SIP/2.0/TCP sip33.example.com
            v: SIP/2.0/TCP sip32.example.com
            V: SIP/2.0/TCP sip31.example.com
            Via: SIP/2.0/TCP sip30.example.com
            ViA: SIP/2.0/TCP sip29.example.com
            VIa: SIP/2.0/TCP sip28.example.com
            VIA: SIP/2.0/TCP sip27.example.com
            via: SIP/2.0/TCP sip26.example.com
            viA: SIP/2.0/TCP sip25.example.com
            vIa: SIP/2.0/TCP sip24.example.com
            vIA: SIP/2.0/TCP sip23.example.com
            V :  SIP/2.0/TCP sip22.example.com
            v :  SIP/2.0/TCP sip21.example.com
            V  : SIP/2.0/TCP sip20.example.com
            v  : SIP/2.0/TCP sip19.example.com
            Via : SIP/2.0/TCP sip18.example.com
            Via  : SIP/2.0/TCP sip17.example.com
            \((1...16).reversed().map { "Via: SIP/2.0/TCP sip\($0).example.com" }.joined(separator: "\n"))
            Via: SIP/2.0/TCP host.example.com;received=192.0.2.5;branch=very\(many("long", 50))branchvalue
            Max-Forwards: 70
            Contact: <sip:\(many("amazinglylongcallername", 5))@host5.example.net>
            Content-Type: application/sdp
            l: 150
            """, sdp("192.0.2.1")),
        .init(
            "3.1.1.8", "dblreq", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            To: sip:j.user@example.com
            From: sip:j.user@example.com;tag=43251j3j324
            Max-Forwards: 8
            I: dblreq.0ha0isndaksdj99sdfafnl3lk233412
            Contact: sip:j.user@host.example.com
            CSeq: 8 REGISTER
            Via: SIP/2.0/UDP 192.0.2.125;branch=z9hG4bKkdjuw23492
            Content-Length: 0


            INVITE sip:joe@example.com SIP/2.0
            t: sip:joe@example.com
            From: sip:caller@example.net;tag=141334
            Max-Forwards: 8
            Call-ID: dblreq.0ha0isnda977644900765@192.0.2.15
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw380234
            Content-Type: application/sdp
            Content-Length: 150
            """, sdp("192.0.2.15").replacing("m=video", with: "m =video") + "\n"),
        .init(
            "3.1.1.9", "semiuri", "200", "404", udp: "200",
            """
            OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0
            To: sip:j_user@example.com
            From: sip:caller@example.org;tag=33242
            Max-Forwards: 3
            Call-ID: semiuri.0ha0isndaksdj
            CSeq: 8 OPTIONS
            Accept: application/sdp, application/pkcs7-mime,
                    multipart/mixed, multipart/signed,
                    message/sip, message/sipfrag
            Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw
            l: 0
            """),
        .init(
            "3.1.1.10", "transports", "200", udp: "200",
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:user@example.com
            From: <sip:caller@example.com>;tag=323
            Max-Forwards: 70
            Call-ID:  transports.kijh4akdnaqjkwendsasfdj
            Accept: application/sdp
            CSeq: 60 OPTIONS
            Via: SIP/2.0/UDP t1.example.com;branch=z9hG4bKkdjuw
            Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf
            Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj
            Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en
            Via: SIP/2.0/TCP t5.example.com;branch=z9hG4bK0a9idfnee
            l: 0
            """),
        .init("3.1.1.11", "mpart01", ["200", "415"], "415", nil, nil, multipart),
        .init(
            "3.1.1.12", "unreason", "none", udp: "none",
            """
            SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое
            Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
            Call-ID: unreason.1234ksdfak3j2erwedfsASdf
            CSeq: 35 INVITE
            From: sip:user@example.com;tag=11141343
            To: sip:user@example.edu;tag=2229
            Content-Length: 154
            Content-Type: application/sdp
            Contact: <sip:user@host198.example.com>
            """, sdp("192.0.2.198")),
        .init(
            "3.1.1.13", "noreason", "none", udp: "none",
            "SIP/2.0 100 \n"
                + """
                Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
                Call-ID: noreason.asndj203insdf99223ndf
                CSeq: 35 INVITE
                From: <sip:user@example.com>;tag=39ansfi3
                To: <sip:user@example.edu>;tag=902jndnke3
                Content-Length: 0
                Contact: <sip:user@host105.example.com>
                """),
    ]

    /// 3.1.1.11: a MESSAGE with a text and a signature in DER.
    private static var multipart: [UInt8] {
        let signature = """
            3082015206092a864886f70d010702a08201433082013f0201013109300706052b0e03021a300b06092a864886f70d010701318201203082
            011c020101307c3070310b3009060355040613025553311330110603550408130a43616c69666f726e69613111300f060355040713085361
            6e204a6f7365310e300c060355040a1305736970697431293027060355040b13205369706974205465737420436572746966696361746520
            417574686f7269747902080195007102330113300706052b0e03021a300d06092a864886f70d01010105000481808ef466f948f0522dd2e5
            978e9d95aae9f2fe15a06659716292e8da2aa8d8350a68ceffae3cbd2bff1675ddd5648e593dd64728f26220f7e941749e330d9a15edabdb
            93d10c42102e7b7289d29cc0c9ae2efbc7c0cff9172f3b027e4fc027e1546de4b6aa3abb3e66cccb5dd6c64b8383149cb8e6ff182d944fe5
            7b65bc99d005
            """.filter(\.isHexDigit).compactMap(\.hexDigitValue)
        let head = """
            MESSAGE sip:kumiko@example.org SIP/2.0
            Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK-d87543-4dade06d0bdb11ee-1--d87543-;rport
            Max-Forwards: 70
            Route: <sip:127.0.0.1:5080>
            Identity: r5mwreLuyDRYBi/0TiPwEsY3rEVsk/G2WxhgTV1PF7hHuLIK0YWVKZhKv9Mj8UeXqkMVbnVq37CD+813gvYjcBUaZngQmXc9WNZSDNGCzA+fWl9MEUHWIZo1CeJebdY/XlgKeTa0Olvq0rt70Q5jiSfbqMJmQFteeivUhkMWYUA=
            Contact: <sip:fluffy@127.0.0.1:5070>
            To: <sip:kumiko@example.org>
            From: <sip:fluffy@example.com>;tag=2fb0dcc9
            Call-ID: 3d9485ad0c49859b@Zmx1ZmZ5LW1hYy0xNi5sb2NhbA..
            CSeq: 1 MESSAGE
            Content-Transfer-Encoding: binary
            Content-Type: multipart/mixed;boundary=7a9cbec02ceef655
            Date: Sat, 15 Oct 2005 04:44:56 GMT
            User-Agent: SIPimp.org/0.2.5 (curses)
            Content-Length: 553

            --7a9cbec02ceef655
            Content-Type: text/plain
            Content-Transfer-Encoding: binary

            Hello
            --7a9cbec02ceef655
            Content-Type: application/octet-stream
            Content-Transfer-Encoding: binary


            """
        let octets = stride(from: 0, to: signature.count, by: 2).map { UInt8(signature[$0] << 4 | signature[$0 + 1]) }
        return crlf(head) + octets + crlf("\n--7a9cbec02ceef655--\n")
    }

    // MARK: 3.1.2 Invalid messages

    private static let invalid: [TortureMessage] = [
        .init(
            "3.1.2.1", "badinv01", "400", "none", udp: "none",
            """
            INVITE sip:user@example.com SIP/2.0
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=134161461246
            Max-Forwards: 7
            Call-ID: badinv01.0ha0isndaksdjasdf3234nas
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP 192.0.2.15;;,;,,
            Contact: "Joe" <sip:joe@example.org>;;;;
            Content-Length: 152
            Content-Type: application/sdp
            """, sdp("192.0.2.15")),
        .init(
            "3.1.2.2", "clerr", "400", udp: "400",
            """
            INVITE sip:user@example.com SIP/2.0
            Max-Forwards: 80
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=93942939o2
            Contact: <sip:caller@hungry.example.net>
            Call-ID: clerr.0ha0isndaksdjweiafasdk3
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bK-39234-23523
            Content-Type: application/sdp
            Content-Length: 9999
            """, sdp("192.0.2.155")),
        .init(
            "3.1.2.3", "ncl", "400", udp: "400",
            """
            INVITE sip:user@example.com SIP/2.0
            Max-Forwards: 254
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=32394234
            Call-ID: ncl.0ha0isndaksdj2193423r542w35
            CSeq: 0 INVITE
            Via: SIP/2.0/UDP 192.0.2.53;branch=z9hG4bKkdjuw
            Contact: <sip:caller@example53.example.net>
            Content-Type: application/sdp
            Content-Length: -999
            """, sdp("192.0.2.53")),
        .init(
            "3.1.2.4", "scalar02", "400", udp: "none", tcp: "400, closed", because: noTransport,
            """
            REGISTER sip:example.com SIP/2.0
            Via: SIP/2.0/TCP host129.example.com;branch=z9hG4bK342sdfoi3
            To: <sip:user@example.com>
            From: <sip:user@example.com>;tag=239232jh3
            CSeq: 36893488147419103232 REGISTER
            Call-ID: scalar02.23o0pd9vanlq3wnrlnewofjas9ui32
            Max-Forwards: 300
            Expires: 1\(many("0", 100))
            Contact: <sip:user@host129.example.com>
              ;expires=280297596632815
            Content-Length: 0
            """),
        .init(
            "3.1.2.5", "scalarlg", "none", udp: "none", tcp: "none",
            """
            SIP/2.0 503 Service Unavailable
            Via: SIP/2.0/TCP host129.example.com;branch=z9hG4bKzzxdiwo34sw;received=192.0.2.129
            To: <sip:user@example.com>
            From: <sip:other@example.net>;tag=2easdjfejw
            CSeq: 9292394834772304023312 OPTIONS
            Call-ID: scalarlg.noase0of0234hn2qofoaf0232aewf2394r
            Retry-After: 949302838503028349304023988
            Warning: 1812 overture "In Progress"
            Content-Length: 0
            """),
        .init(
            "3.1.2.6", "quotbal", "400", udp: "400",
            """
            INVITE sip:user@example.com SIP/2.0
            To: "Mr. J. User <sip:j.user@example.com>
            From: sip:caller@example.net;tag=93334
            Max-Forwards: 10
            Call-ID: quotbal.aksdj
            Contact: <sip:caller@host59.example.net>
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP 192.0.2.59:5050;branch=z9hG4bKkdjuw39234
            Content-Type: application/sdp
            Content-Length: 152
            """, sdp("192.0.2.15")),
        .init(
            "3.1.2.7", "ltgtruri", "400", udp: "400",
            """
            INVITE <sip:user@example.com> SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=39291
            Max-Forwards: 23
            Call-ID: ltgtruri.1@192.0.2.5
            CSeq: 1 INVITE
            Via: SIP/2.0/UDP 192.0.2.5
            Contact: <sip:caller@host5.example.net>
            Content-Type: application/sdp
            Content-Length: 159
            """, sdp("192.0.2.5", time: "3149328700 0")),
        .init(
            "3.1.2.8", "lwsruri", "400", "481", udp: "none",
            because: "libsofia-sip-ua drops a request with a faulty request line.",
            """
            INVITE sip:user@example.com; lr SIP/2.0
            To: sip:user@example.com;tag=3xfe-9921883-z9f
            From: sip:caller@example.net;tag=231413434
            Max-Forwards: 5
            Call-ID: lwsruri.asdfasdoeoi2323-asdfwrn23-asd834rk423
            CSeq: 2130706432 INVITE
            Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKkdjuw2395
            Contact: <sip:caller@host1.example.net>
            Content-Type: application/sdp
            Content-Length: 159
            """, sdp("192.0.2.1", time: "3149328700 0")),
        .init(
            "3.1.2.9", "lwsstart", "400", "rings", udp: "rings",
            """
            INVITE  sip:user@example.com  SIP/2.0
            Max-Forwards: 8
            To: sip:user@example.com
            From: sip:caller@example.net;tag=8814
            Call-ID: lwsstart.dfknq234oi243099adsdfnawe3@example.com
            CSeq: 1893884 INVITE
            Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bKkdjuw3923
            Contact: <sip:caller@host1.example.net>
            Content-Type: application/sdp
            Content-Length: 150
            """, sdp("192.0.2.1")),
        .init(
            "3.1.2.10", "trws", "400", "200", udp: "none", tcp: "200", because: noTransport,
            "OPTIONS sip:remote-target@example.com SIP/2.0  \n"
                + """
                Via: SIP/2.0/TCP host1.examle.com;branch=z9hG4bK299342093
                To: <sip:remote-target@example.com>
                From: <sip:local-resource@example.com>;tag=329429089
                Call-ID: trws.oicu34958239neffasdhr2345r
                Accept: application/sdp
                CSeq: 238923 OPTIONS
                Max-Forwards: 70
                Content-Length: 0
                """),
        .init(
            "3.1.2.11", "escruri", "400", "rings", udp: "rings",
            """
            INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=341518
            Max-Forwards: 7
            Contact: <sip:caller@host39923.example.net>
            Call-ID: escruri.23940-asdfhj-aje3br-234q098w-fawerh2q-h4n5
            CSeq: 149209342 INVITE
            Via: SIP/2.0/UDP host-of-the-hour.example.com;branch=z9hG4bKkdjuw
            Content-Type: application/sdp
            Content-Length: 150
            """, sdp("192.0.2.1")),
        .init(
            "3.1.2.12", "baddate", "400", "rings", udp: "rings",
            """
            INVITE sip:user@example.com SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=2234923
            Max-Forwards: 70
            Call-ID: baddate.239423mnsadf3j23lj42--sedfnm234
            CSeq: 1392934 INVITE
            Via: SIP/2.0/UDP host.example.com;branch=z9hG4bKkdjuw
            Date: Fri, 01 Jan 2010 16:00:00 EST
            Contact: <sip:caller@host5.example.net>
            Content-Type: application/sdp
            Content-Length: 150
            """, sdp("192.0.2.5")),
        .init(
            "3.1.2.13", "regbadct", "400", "405", udp: "400",
            """
            REGISTER sip:example.com SIP/2.0
            To: sip:user@example.com
            From: sip:user@example.com;tag=998332
            Max-Forwards: 70
            Call-ID: regbadct.k345asrl3fdbv@10.0.0.1
            CSeq: 1 REGISTER
            Via: SIP/2.0/UDP 135.180.130.133:5060;branch=z9hG4bKkdjuw
            Contact: sip:user@example.com?Route=%3Csip:sip.example.com%3E
            l: 0
            """),
        .init(
            "3.1.2.14", "badaspec", "400", "200", udp: "200",
            """
            OPTIONS sip:user@example.org SIP/2.0
            Via: SIP/2.0/UDP host4.example.com:5060;branch=z9hG4bKkdju43234
            Max-Forwards: 70
            From: "Bell, Alexander" <sip:a.g.bell@example.com>;tag=433423
            To: "Watson, Thomas" < sip:t.watson@example.org >
            Call-ID: badaspec.sdf0234n2nds0a099u23h3hnnw009cdkne3
            Accept: application/sdp
            CSeq: 3923239 OPTIONS
            l: 0
            """),
        // The archive has no empty line at the end of this one.
        .init(
            "3.1.2.15", "baddn", ["400", "200"], "400", nil, nil,
            crlf(
                """
                OPTIONS sip:t.watson@example.org SIP/2.0
                Via:     SIP/2.0/UDP c.example.com:5060;branch=z9hG4bKkdjuw
                Max-Forwards:      70
                From:    Bell, Alexander <sip:a.g.bell@example.com>;tag=43
                To:      Watson, Thomas <sip:t.watson@example.org>
                Call-ID: baddn.31415@c.example.com
                Accept: application/sdp
                CSeq:    3923239 OPTIONS
                l: 0

                """)),
        .init(
            "3.1.2.16", "badvers", "505", udp: "none",
            because: "libsofia-sip-ua drops a request of another version.",
            """
            OPTIONS sip:t.watson@example.org SIP/7.0
            Via:     SIP/7.0/UDP c.example.com;branch=z9hG4bKkdjuw
            Max-Forwards:     70
            From:    A. Bell <sip:a.g.bell@example.com>;tag=qweoiqpe
            To:      T. Watson <sip:t.watson@example.org>
            Call-ID: badvers.31417@c.example.com
            CSeq:    1 OPTIONS
            l: 0
            """),
        .init(
            "3.1.2.17", "mismatch01", "400", udp: "400",
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=34525
            Max-Forwards: 6
            Call-ID: mismatch01.dj0234sxdfl3
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP host.example.com;branch=z9hG4bKkdjuw
            l: 0
            """),
        .init(
            "3.1.2.18", "mismatch02", "400", "501", udp: "400",
            """
            NEWMETHOD sip:user@example.com SIP/2.0
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=34525
            Max-Forwards: 6
            Call-ID: mismatch02.dj0234sxdfl3
            CSeq: 8 INVITE
            Contact: <sip:caller@host.example.net>
            Via: SIP/2.0/UDP host.example.net;branch=z9hG4bKkdjuw
            Content-Type: application/sdp
            l: 138
            """, sdp("192.0.2.1").replacing("s=-\n", with: "").replacing("t=0 0\n", with: "")),
        .init(
            "3.1.2.19", "bigcode", "none", udp: "none",
            """
            SIP/2.0 4294967301 better not break the receiver
            Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
            Call-ID: bigcode.asdof3uj203asdnf3429uasdhfas3ehjasdfas9i
            CSeq: 353494 INVITE
            From: <sip:user@example.com>;tag=39ansfi3
            To: <sip:user@example.edu>;tag=902jndnke3
            Content-Length: 0
            Contact: <sip:user@host105.example.com>
            """),
    ]

    // MARK: 3.2 Transaction layer semantics

    private static let transactions: [TortureMessage] = [
        .init(
            "3.2.1", "badbranch", "200", udp: "200",
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.org;tag=33242
            Max-Forwards: 3
            Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK
            Accept: application/sdp
            Call-ID: badbranch.sadonfo23i420jv0as0derf3j3n
            CSeq: 8 OPTIONS
            l: 0
            """)
    ]

    // MARK: 3.3 Application layer semantics

    private static let applications: [TortureMessage] = [
        .init(
            "3.3.1", "insuf", "400", udp: "400",
            """
            INVITE sip:user@example.com SIP/2.0
            CSeq: 193942 INVITE
            Via: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf
            Content-Type: application/sdp
            l: 152
            """, sdp("192.0.2.95")),
        .init(
            "3.3.2", "unkscm", "416", udp: "none", tcp: "416", because: noTransport,
            """
            OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=384
            Max-Forwards: 3
            Call-ID: unkscm.nasdfasser0q239nwsdfasdkl34
            CSeq: 3923423 OPTIONS
            Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
            Content-Length: 0
            """),
        .init(
            "3.3.3", "novelsc", "416", udp: "none", tcp: "416", because: noTransport,
            """
            OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=384
            Max-Forwards: 3
            Call-ID: novelsc.asdfasser0q239nwsdfasdkl34
            CSeq: 3923423 OPTIONS
            Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
            Content-Length: 0
            """),
        .init(
            "3.3.4", "unksm2", "400", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            To: isbn:2983792873
            From: <http://www.example.com>;tag=3234233
            Call-ID: unksm2.daksdj@hyphenated-host.example.com
            CSeq: 234902 REGISTER
            Max-Forwards: 70
            Via: SIP/2.0/UDP 192.0.2.21:5060;branch=z9hG4bKkdjuw
            Contact: <name:John_Smith>
            l: 0
            """),
        .init(
            "3.3.5", "bext01", "420", udp: "none", tcp: "420", because: noTransport,
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:j_user@example.com
            From: sip:caller@example.net;tag=242etr
            Max-Forwards: 6
            Call-ID: bext01.0ha0isndaksdj
            Require: nothingSupportsThis, nothingSupportsThisEither
            Proxy-Require: noProxiesSupportThis, norDoAnyProxiesSupportThis
            CSeq: 8 OPTIONS
            Via: SIP/2.0/TLS fold-and-staple.example.com;branch=z9hG4bKkdjuw
            Content-Length: 0
            """),
        .init(
            "3.3.6", "invut", "415", udp: "415",
            """
            INVITE sip:user@example.com SIP/2.0
            Contact: <sip:caller@host5.example.net>
            To: sip:j.user@example.com
            From: sip:caller@example.net;tag=8392034
            Max-Forwards: 70
            Call-ID: invut.0ha0isndaksdjadsfij34n23d
            CSeq: 235448 INVITE
            Via: SIP/2.0/UDP somehost.example.com;branch=z9hG4bKkdjuw
            Content-Type: application/unknownformat
            Content-Length: 40
            """, "<audio>\n <pcmu port=\"443\"/>\n</audio>\n"),
        .init(
            "3.3.7", "regaut01", "401", "405", udp: "none", tcp: "405", because: noTransport,
            """
            REGISTER sip:example.com SIP/2.0
            To: sip:j.user@example.com
            From: sip:j.user@example.com;tag=87321hj23128
            Max-Forwards: 8
            Call-ID: regaut01.0ha0isndaksdj
            CSeq: 9338 REGISTER
            Via: SIP/2.0/TCP 192.0.2.253;branch=z9hG4bKkdjuw
            Authorization: NoOneKnowsThisScheme opaque-data=here
            Content-Length:0
            """),
        .init(
            "3.3.8", "multi01", "400", udp: "400",
            """
            INVITE sip:user@company.com SIP/2.0
            Contact: <sip:caller@host25.example.net>
            Via: SIP/2.0/UDP 192.0.2.25;branch=z9hG4bKkdjuw
            Max-Forwards: 70
            CSeq: 5 INVITE
            Call-ID: multi01.98asdh@192.0.2.1
            CSeq: 59 INVITE
            Call-ID: multi01.98asdh@192.0.2.2
            From: sip:caller@example.com;tag=3413415
            To: sip:user@example.com
            To: sip:other@example.net
            From: sip:caller@example.net;tag=2923420123
            Content-Type: application/sdp
            l: 154
            Contact: <sip:caller@host36.example.net>
            Max-Forwards: 5
            """, sdp("192.0.2.25") + "\n"),
        .init(
            "3.3.9", "mcl01", "400", udp: "400",
            """
            OPTIONS sip:user@example.com SIP/2.0
            Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bK293423
            To: sip:user@example.com
            From: sip:other@example.net;tag=3923942
            Call-ID: mcl01.fhn2323orihawfdoa3o4r52o3irsdf
            CSeq: 15932 OPTIONS
            Content-Length: 13
            Max-Forwards: 60
            Content-Length: 5
            Content-Type: text/plain
            """, "There's no way to know how many octets are supposed to be here.\n\n"),
        .init(
            "3.3.10", "bcast", "none", udp: "none",
            """
            SIP/2.0 200 OK
            Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
            Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23
            Call-ID: bcast.0384840201234ksdfak3j2erwedfsASdf
            CSeq: 35 INVITE
            From: sip:user@example.com;tag=11141343
            To: sip:user@example.edu;tag=2229
            Content-Length: 154
            Content-Type: application/sdp
            Contact: <sip:user@host28.example.com>
            """, sdp("192.0.2.198")),
        .init(
            "3.3.11", "zeromf", "200", "483", udp: "200",
            """
            OPTIONS sip:user@example.com SIP/2.0
            To: sip:user@example.com
            From: sip:caller@example.net;tag=3ghsd41
            Call-ID: zeromf.jfasdlfnm2o2l43r5u0asdfas
            CSeq: 39234321 OPTIONS
            Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bKkdjuw2349i
            Max-Forwards: 0
            Content-Length: 0
            """),
        .init(
            "3.3.12", "cparam01", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            Via: SIP/2.0/UDP saturn.example.com:5060;branch=z9hG4bKkdjuw
            Max-Forwards: 70
            From: sip:watson@example.com;tag=DkfVgjkrtMwaerKKpe
            To: sip:watson@example.com
            Call-ID: cparam01.70710@saturn.example.com
            CSeq: 2 REGISTER
            Contact: sip:+19725552222@gw1.example.net;unknownparam
            l: 0
            """),
        .init(
            "3.3.13", "cparam02", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            Via: SIP/2.0/UDP saturn.example.com:5060;branch=z9hG4bKkdjuw
            Max-Forwards: 70
            From: sip:watson@example.com;tag=838293
            To: sip:watson@example.com
            Call-ID: cparam02.70710@saturn.example.com
            CSeq: 3 REGISTER
            Contact: <sip:+19725552222@gw1.example.net;unknownparam>
            l: 0
            """),
        .init(
            "3.3.14", "regescrt", "405", udp: "405",
            """
            REGISTER sip:example.com SIP/2.0
            To: sip:user@example.com
            From: sip:user@example.com;tag=8
            Max-Forwards: 70
            Call-ID: regescrt.k345asrl3fdbv@192.0.2.1
            CSeq: 14398234 REGISTER
            Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
            M: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>
            L:0
            """),
        .init(
            "3.3.15", "sdp01", "406", udp: "406",
            """
            INVITE sip:user@example.com SIP/2.0
            To: sip:j_user@example.com
            Contact: <sip:caller@host15.example.net>
            From: sip:caller@example.net;tag=234
            Max-Forwards: 5
            Call-ID: sdp01.ndaksdj9342dasdd
            Accept: text/nobodyKnowsThis
            CSeq: 8 INVITE
            Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw
            Content-Length: 150
            Content-Type: application/sdp
            """, sdp("192.0.2.5")),
        .init(
            "3.3.16", "inv2543", "rings", udp: "400",
            because: "RFC 3261 demands a Contact in INVITE; without one the core could send no request of the dialog.",
            """
            INVITE sip:UserB@example.com SIP/2.0
            Via: SIP/2.0/UDP iftgw.example.com
            From: <sip:+13035551111@ift.client.example.net;user=phone>
            Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>
            To: sip:+16505552222@ss1.example.net;user=phone
            Call-ID: inv2543.1717@ift.client.example.com
            CSeq: 56 INVITE
            Content-Type: application/sdp
            """,
            "v=0\no=mhandley 29739 7272939 IN IP4 192.0.2.5\ns=-\nc=IN IP4 192.0.2.5\nt=0 0\nm=audio 49217 RTP/AVP 0\n"),
    ]
}
