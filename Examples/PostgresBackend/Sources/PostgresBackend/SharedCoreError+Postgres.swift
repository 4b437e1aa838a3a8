internal import CPostgres
internal import CoreAPI

extension SharedCoreError {
    /// The error of a statement that the server refused: nothing was done. The server's detail is left out, because it may have values in it.
    ///
    /// Source: appendix A of PostgreSQL's manual.
    init(_ result: OpaquePointer, at location: String) {
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? "?????"
        let text = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) } ?? "no answer"
        let (code, message): (Code, String) =
            switch (state, state.prefix(2)) {
            case ("53100", _): (.storageFull, "The server's disk is full.")
            case ("42501", _), ("25006", _), (_, "28"): (.forbidden, "The role may not use the tables.")
            case ("42P01", _), ("XX001", _), ("XX002", _): (.corrupt, "The tables are gone or damaged.")
            case (_, "54"): (.limitExceeded, "The server has a limit for that.")
            case (_, "08"), (_, "3D"), (_, "53"), (_, "55"), (_, "57"): (.unavailable, "The server cannot answer now.")
            default: (.system, "The server refused.")
            }
        self.init(code, message, at: location, cause: "\(state): \(text)")
    }
}
