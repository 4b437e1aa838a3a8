#if Etcd
    package import Platform

    /// Defects of the backend on etcd.
    package enum EtcdDefect: BackendDefect {
        /// A request without an answer is sent again while the first may still be on its way.
        case unfencedRetry
        /// A member that does not answer is asked again and no other.
        case onlyMember
        /// After a compaction what was known is gone on from, without what was missed.
        case overlookedCompaction
        /// An entry that is removed and made again in one transaction keeps its creation.
        case keptCreation
        /// A linearizable read waits for the head alone, not for the ends of sessions.
        case uncountedSessions
        /// A request is refused for its size by what is known here, though there may be room by now.
        case staleLimits
        /// A group is read in whatever layout it is kept.
        case anyLayout
        /// What has no name is taken for this run of this machine.
        case namelessBoot
        /// Bytes that nobody wrote are taken for a value.
        case believedEntry
        /// A group is followed on when its last participant of the process has left.
        case keptFeed
        /// A group is followed no more when one of its participants of the process has left.
        case endedFeed
        /// A watch that is held for longer than its group is not ended.
        case forgottenWatch
        /// A member is believed whatever certificate it shows.
        case believedMember
        /// What entries leave behind is removed though they were made again meanwhile.
        case uncheckedLeftovers
        /// What entries leave behind is removed in whatever layout the group is kept.
        case unjudgedLeftovers
        /// A lease is kept alive only once the session is there.
        case lateRenewal
        /// Who opens a session has the leases of all others renewed.
        case eagerRenewal
        /// The part of a revision that a message ends with is taken for the whole.
        case tornFragments
        /// What a session's record says of its process is taken for proven.
        case believedRecord

        #if FAIL_POINTS
            package static let present = injected()
        #endif
    }
#endif
