#if Etcd
    package import Platform

    /// Defects of the backend on etcd.
    package enum EtcdDefect: BackendDefect {
        /// A request without an answer is sent again while the first may still be on its way.
        case unfencedRetry
        /// A member that does not answer is asked again and no other.
        case onlyMember
        /// After a compaction the feed goes on from the known revision, without the missed events.
        case overlookedCompaction
        /// An entry that is removed and made again in one transaction keeps its creation.
        case keptCreation
        /// A linearizable read waits for the head alone, not for the ends of sessions.
        case uncountedSessions
        /// A request is refused for its size by the limits known here, though there may be space by now.
        case staleLimits
        /// A group of any layout is read.
        case anyLayout
        /// An unnamed run of a machine is taken for this run of this machine.
        case namelessBoot
        /// Bytes that no participant wrote are taken for a value.
        case believedEntry
        /// A group is followed on when its last participant of the process has left.
        case keptFeed
        /// A group is followed no more when one of its participants of the process has left.
        case endedFeed
        /// A watch that is held for longer than its group is not ended.
        case forgottenWatch
        /// A member is believed with any certificate.
        case believedMember
        /// Leftovers of entries are removed though the entries were made again meanwhile.
        case uncheckedLeftovers
        /// Leftovers of entries are removed in a group of any layout.
        case unjudgedLeftovers
        /// A lease is kept alive only once the session is there.
        case lateRenewal
        /// A participant that opens a session has the leases of all others renewed.
        case eagerRenewal
        /// A revision's part at the end of a message is taken for the whole revision.
        case tornFragments
        /// The process in a session's record is taken for proven.
        case believedRecord
        /// A lease counts as confirmed by a renewal that was not answered.
        case unansweredRenewal
        /// An opening waits for the cluster for as long as its calls do.
        case patientOpening

        #if FAIL_POINTS
            package static let present = injected()
        #endif
    }
#endif
