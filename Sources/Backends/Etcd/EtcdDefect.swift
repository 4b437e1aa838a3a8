#if Etcd
    package import Platform

    /// Defects of the backend on etcd.
    package enum EtcdDefect: BackendDefect {
        /// A request without an answer is sent again while the first may still be on its way.
        case unfencedRetry
        /// A member that does not answer is retried, and no other member is used.
        case onlyMember
        /// After a compaction the feed continues from the known revision, without the missed events.
        case overlookedCompaction
        /// An entry that is removed and created again in one transaction keeps its creation revision.
        case keptCreation
        /// A linearizable read waits only for the head, not for the ends of sessions.
        case uncountedSessions
        /// A request is refused for its size by the locally known usage, though there may be space by now.
        case staleLimits
        /// A group of any layout is read.
        case anyLayout
        /// A zero boot id counts as that of this machine.
        case namelessBoot
        /// Bytes that no participant wrote count as a value.
        case believedEntry
        /// A group's feed continues after its last participant of the process has left.
        case keptFeed
        /// A group's feed ends when any of its participants of the process has left.
        case endedFeed
        /// A watch that outlives its group's handle is not ended.
        case forgottenWatch
        /// A member with any certificate is trusted.
        case believedMember
        /// Leftovers of entries are removed though the entries were created again meanwhile.
        case uncheckedLeftovers
        /// Leftovers of entries are removed in a group of any layout.
        case unjudgedLeftovers
        /// A lease is kept alive only after the session exists.
        case lateRenewal
        /// A participant that opens a session triggers a renewal of all other leases.
        case eagerRenewal
        /// A part of a revision at the end of a message counts as the whole revision.
        case tornFragments
        /// The process in a session's record counts as proven.
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
