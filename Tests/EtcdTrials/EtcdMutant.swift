#if Etcd
    internal import EtcdBackend
    internal import Glibc
    internal import Platform
    internal import TestSupport

    /// The backend with a defect, and the trial that must notice it.
    struct EtcdMutant {
        let defect: EtcdDefect
        /// The number of the trial.
        let trial: Int
        /// Words that the failure of the trial must contain: they show that the defect caused it, and nothing else did.
        let complaint: String

        static let all = [
            EtcdMutant(defect: .overlookedCompaction, trial: 4, complaint: "the watch converges"),
            EtcdMutant(defect: .lateRenewal, trial: 6, complaint: "longer than its lease: unavailable"),
            EtcdMutant(defect: .unfencedRetry, trial: 8, complaint: "was posted once, and counts 2"),
            EtcdMutant(defect: .onlyMember, trial: 8, complaint: "outcomeUnknown"),
            EtcdMutant(defect: .anyLayout, trial: 9, complaint: "A group in another layout was opened"),
            EtcdMutant(defect: .believedEntry, trial: 9, complaint: "an entry that nobody wrote: not in"),
            EtcdMutant(defect: .namelessBoot, trial: 9, complaint: "has expired at once by another machine's clock"),
            EtcdMutant(defect: .unjudgedLeftovers, trial: 9, complaint: "who was refused has removed a key"),
            EtcdMutant(defect: .endedFeed, trial: 10, complaint: "in one process: outcomeUnknown"),
            EtcdMutant(defect: .keptFeed, trial: 10, complaint: "the last one leaves no connection"),
            EtcdMutant(defect: .forgottenWatch, trial: 10, complaint: "the watch goes on without its group"),
            EtcdMutant(defect: .uncountedSessions, trial: 10, complaint: "what a closed session held is read"),
            EtcdMutant(defect: .staleLimits, trial: 10, complaint: "then a put: limitExceeded"),
            EtcdMutant(defect: .keptCreation, trial: 10, complaint: "told as made at"),
            EtcdMutant(defect: .believedMember, trial: 11, complaint: "Somebody was let in. [believing another"),
            EtcdMutant(defect: .believedRecord, trial: 17, complaint: "is taken for"),
            EtcdMutant(defect: .uncheckedLeftovers, trial: 13, complaint: "made again meanwhile"),
            EtcdMutant(defect: .tornFragments, trial: 14, complaint: "changes are told"),
            EtcdMutant(defect: .eagerRenewal, trial: 15, complaint: "renewals in the time of"),
            EtcdMutant(defect: .unansweredRenewal, trial: 18, complaint: "is cut off runs beside another"),
            EtcdMutant(defect: .patientOpening, trial: 6, complaint: "for longer than it may"),
        ]

        /// The longest time of a trial, since a defect may have it wait for ever.
        private static let timeout = Duration.seconds(600)

        /// The names that are no defect's.
        static func unknown(among names: ArraySlice<String>) -> [String] {
            names.filter { name in !all.contains { "\($0.defect)" == name } }
        }

        /// Tries each mutant in a process of its own, with members of its own.
        static func tryAll(
            with program: String, in directory: String, named names: ArraySlice<String>
        ) async throws -> Bool {
            #if FAIL_POINTS
                let missing = Set(EtcdDefect.allCases).subtracting(all.map(\.defect))
                try expect(missing.isEmpty, "no trial is named for \(missing)")
            #endif
            var isCaught = true
            for mutant in all where names.isEmpty || names.contains("\(mutant.defect)") {
                let own = "\(directory)/\(mutant.defect)"
                _ = try Directory.create(path: own, permissions: 0o700)
                let process = try ChildProcess(
                    OwnProgram.path, [program, own, "\(mutant.trial)"],
                    environment: ["SHAREDCORE_DEFECT": "\(mutant.defect)"])
                let limit = Task {
                    try await Task.sleep(for: timeout)
                    process.signal(.kill)
                }
                let end = await process.end()
                limit.cancel()
                let hasSaid = process.lines.contains { $0.contains(mutant.complaint) }
                let word = end == .exited(1) && hasSaid ? "caught " : "escaped"
                print("\(word) \(mutant.defect), by trial \(mutant.trial)")
                if word == "escaped" {
                    isCaught = false
                    for line in process.lines { print("        \(line)") }
                }
                fflush(nil)
            }
            return isCaught
        }
    }
#endif
