internal import CoreAPITesting
internal import Glibc
internal import Platform

/// The files of a group that the last program of layout 3 wrote: `sessions` and `journal-1` as a compressed tar.
///
/// Its keys are `empty` with nothing, `greeting` with “hello again”, `large` with 6,000 letters, and `ключ` with
/// “значение”. It has a message in the queue `jobs`, and the names `signalUpdates` in state 7 and `plain`. A key was deleted,
/// and another one put twice.
package enum LayoutThreeGroup {
    /// Writes the files into a directory, which is made.
    package static func write(to path: String) async throws {
        _ = try Directory.create(path: path, permissions: 0o700)
        let archive = path + ".base64"
        try OpenFile(path: archive, .createNew).write(Array(files.utf8), at: 0)
        let child = try ChildProcess("sh", ["-c", #"base64 -d <"$0" | gzip -d | tar -x -C "$1""#, archive, path])
        guard await child.end() == .exited(0) else { throw FileProblem(path: archive, code: EINVAL) }
    }

    private static let files = """
        H4sIAAAAAAACA+3ae1BUZRjH8X0OByjJ2kQgQ3BtTKNSds3b2GUqpzJGzWTMrKmZVY6Erbuwu5RdbGpqxFIxMLyl0ySOmtgO2mCmpZma1ZgsZv
        fL4gXSbARFkgyyc+wcK92hptvU+P38wbu8+57n/PY9Z2d2eZjoK/R73Z7eLts/x6kb4HSeHJ2nj/1cTmffvtacOT+wX9+BNofT9i8oDATdfofD
        dpbKHpo9JGvEMFeM+XtXc3yu+6iqqiHr0kRk+FNvrslJm9s6YW7uxtDtC5bMrng0cKzLOLEB+H/rk3l2v/5OdoWbAAAAAGcN69PvvaUlK5yP3N
        RDsVnf61MK9i1dd1HG5Lhh5sSnuZGd6UXu7SI7lpZHGmrjzvjTwJqIPFNZJWrQ5/N0Dtzn9ms5431+zREIGj/zC4P2d93FKcebizu1njjRYNRM
        N2uryd3VO48+v1+UeYtfM2orYhM5J9evacE8b67E3qd5PL4Ec/Vj3S+cnnDujdkSs62y3litihVyd86qebvKMypEbVi4eVFjlJCbI7K4/ZDdxv
        R4ONX1/nlWyGSzdtLaG6567LpgmsROK9ll1FZUPWSsNik/+JDYrHCNs0aM/Kw1dabE7WlpM1apqhWue8mxLct79dkj8U1FodmHo4TbGZFQ++Ha
        xuS9lTl/SJoVLsOs3bm/Enz4s8Jv5ZwFkS1GbSXe2MHwuvD6muKaIrGHXw2/Ea6sKQpX6ePacJWV137CP3zNUnlazn18WbhMP1CNt/L2fGnsk4
        uyXl4gHZ4tm//MkSh5v4jIu+3nfSv2YLYrvi7JyluUYn7x7Lh6/dabry+WhOoVm43aSgdjMz1uf64mjX2GAQAAAAAAAACAv8zqBnweWZ2+aHRL
        tZy3ryY0/UhtnNrB6gZ813r41aLFbV9Lx5Ki3TObonQD6iOyp/1uQMXVth+nTN10tdUN6GHWnj977MEDO3pdJuev+eSwUVvp+Jv+T8LJ/o/Dne
        vO81pRlxbdvmRQOGu7XFBf/3Gpfoza0Yq6r3LT270aUpPF3riz9cmjUaI2RaSt/ahZ398zIMa77OLTu0Cvj85eWVX90XtyYeMPxU/ptRW7HlXN
        9Xk1EZcV7h25NnH6kpV7pdPCI2uNVar9NvOp6YNmNE0ZZC+XxMYD1auao4R7vFbKVpnhUs4Il6N5tKBm99X1t6l1Pa+z8iWa5cMFzQXbhze9KJ
        2P1+0zyiuJNlFO5rPCTT40+NbzE3pfKUlzPiyr0peoiSPMp6apE2crRwfdIslbp1UdOhYlXGmt7LfCJf8qnNcXzJvwkCPfFwjafzzU7cDzyxbE
        WNmSzOpTxzSPvvyljA2SUvfKVqO6kmwTVfVqDwYk3kq3t2zTYX/+4C/lotK3v2nQF6nJVrpOW45tWJw34w7pUrN82/stUdItrJW230s3Vsl37P
        hyrnJ6ujlx1dfc9fnKO+XiGXM+NKorXfR0sfke/aY71d4ryMqpbQltVCR1/8stxiK1i3Vhrzjwxg93702vkK4HNxyc9X2UdMtqZdbqKBd2kjvP
        M8432RHQvDn2+5WSDzJu+OpU+3G/Wf7QExVHQs0rHpC0tuVTn9XLK11tMcqwPr/UyTTraIHMS/WH3syCQq1Qy5zoG6dPeJ2/4Rrf23naTGZQ/s
        5qk6TzbnViwOf9uaMc/8gl3ksGu6aoPf/YOU7t+PqZ3skvlI/fLellW8uN1612HW4+lZ0w8rn36mMnSbfQxl0lx6Ps+PpaCVk7nnTGW8mTp98O
        Rz+5MbniuxWp1n5b55318ZQJd43aUSmObaHXSvXiajf+XwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgGgCWiCQ5/MG/slzOHUDnM6To/OM0fXrOfPxwH79+9sczn
        9jAwoDQbff4Thbr3/20Owht4wa6Yr5k8cLbyEAAAAAAAAAAID/lJ8Ah5SqOQAwAgA=
        """
}
