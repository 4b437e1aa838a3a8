#if Etcd
    internal import CoreAPI
    internal import GRPCCore

    /// Why a call to a cluster failed. The cases distinguish whether the call can have taken effect.
    enum EtcdFailure: Error {
        /// The call was refused and had no effect.
        case refused(SharedCoreError)
        /// The call's lease is over; it had no effect.
        case leaseEnded
        /// The cluster's space is used up. A commit may have taken effect nevertheless: the commit that uses up the
        /// space is executed, and is answered with this error as well.
        case full(String)
        /// The requested revision lies before the oldest one that the cluster keeps.
        case compacted
        /// There was no answer, or an answer from which it is not known whether the call took effect.
        case unclear(String)

        /// Classifies an error of a call to etcd.
        ///
        /// - Parameter securityNote: The error in securing the connection; nil for none.
        init(_ error: any Error, securityNote: String? = nil) {
            guard let error = error as? RPCError else {
                self = .unclear("\(error)")
                return
            }
            let text = error.message
            switch error.code {
            case .notFound where text.contains("lease"): self = .leaseEnded
            case .outOfRange: self = .compacted
            case .invalidArgument where text.contains("too large") || text.contains("too many"),
                .resourceExhausted where text.contains("larger than max"):
                self = .refused(
                    SharedCoreError(
                        .limitExceeded, "The cluster accepts no request of this size.", at: "etcd", cause: text))
            case .resourceExhausted where text.contains("space"):
                self = .full(text)
            case .permissionDenied, .unauthenticated, .failedPrecondition:
                self = .refused(
                    SharedCoreError(
                        .forbidden, "The cluster does not let this client do that.", at: "etcd", cause: text))
            case .invalidArgument, .unimplemented, .notFound:
                self = .refused(
                    SharedCoreError(
                        .system, "The cluster refuses the request.", at: "etcd", cause: "\(error.code): \(text)"))
            default: self = .unclear("\(error.code): \(text)" + (securityNote.map { " Security: \($0)." } ?? ""))
            }
        }

        /// Returns the error to throw where the request cannot have taken effect.
        func harmless(at location: String) -> SharedCoreError {
            switch self {
            case .refused(let error): error
            case .leaseEnded: SharedCoreError(.unavailable, "The lease is over.", at: location)
            case .compacted:
                SharedCoreError(.unavailable, "The requested revision was removed by a compaction.", at: location)
            case .full(let cause):
                SharedCoreError(.storageFull, "The cluster's space is used up.", at: location, cause: cause)
            case .unclear(let cause):
                SharedCoreError(.unavailable, "The cluster does not answer.", at: location, cause: cause)
            }
        }
    }

    extension SharedCoreError {
        /// Returns the error for a value in etcd that no participant writes.
        static func unreadable(_ what: String) -> SharedCoreError {
            SharedCoreError(.corrupt, "The value of \(what) in etcd was not written by a participant.", at: "etcd")
        }

        /// The error of a group that another version has created.
        static var unknownLayout: SharedCoreError {
            SharedCoreError(
                .incompatible, "The group is kept in a layout that this version does not know.", at: "etcd")
        }
    }
#endif
