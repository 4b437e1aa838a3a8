internal import CoreAPITesting
internal import Glibc
internal import Platform

/// L1, L3: the signs that prove that a process lives, and those that do not.
enum SessionCases {
    static let all = [bellsTellOfDeaths, bellsTellOthers, programsInheritNothing, looksTakeNothing]

    static let bellsTellOfDeaths = ConformanceCase(
        "F-L1a", "the bells of one that dies tell of it before the system has ended its process"
    ) { context in
        // The end of a process is overlooked.
        let observer = try await context.start(arming: CaseContext.onlyWhenWoken + ",look.ends:fail")
        try await hearsOfDeath(observer, in: context)
    }

    static let bellsTellOthers = ConformanceCase(
        "F-L1b", "they tell also processes that cannot see its process, as from another container"
    ) { context in
        let observer = try await context.startWithoutProcesses()
        try await observer.tell("arm " + CaseContext.onlyWhenWoken)
        try await hearsOfDeath(observer, in: context)
    }

    /// The holder has its key before any other process listens, and listens itself.
    private static func hearsOfDeath(_ observer: Peer, in context: CaseContext) async throws {
        try await context.withGroup { group in
            let holder = try await group.join()
            try await holder.tell("watch other")
            try await holder.tell("hold owner holder")
            try await observer.tell("open \(group.address)")
            try await observer.tell("watch owner")
            try expect(try await observer.tell("get owner"), is: "value holder", "what the holder holds")
            await holder.killNow()
            try await eventually("what the killed one held is gone") {
                try await observer.tell("get owner") == "nothing"
            }
        }
    }

    // From here on no process sees the processes of the others, so that the locks alone say which of them live.

    static let programsInheritNothing = ConformanceCase(
        "F-L3a", "a program that a participant has started and left behind keeps nothing of it alive"
    ) { context in
        try await context.withGroup { group in
            let holder = try await context.startWithoutProcesses()
            try await holder.tell("open \(group.address)")
            try await holder.tell("hold owner holder")
            let other = try await context.startWithoutProcesses()
            try await other.tell("open \(group.address)")
            let program = try expectSome(Int32(try await holder.tell("program")), "the process of the program")
            defer { kill(program, SIGKILL) }
            let both = try await other.tell("sessions").split(separator: " ")
            try expect(both.count, is: 2, "the number of participants while the holder lives")
            try expect(try await other.tell("get owner"), is: "value holder", "what the holder holds")
            await holder.killNow()
            let left = try await other.tell("sessions").split(separator: " ")
            try expect(left.count, is: 1, "the number of participants when the holder is dead and its program lives")
            try expect(try await other.tell("get owner"), is: "nothing", "what the holder held")
        }
    }

    static let looksTakeNothing = ConformanceCase(
        "F-L3b", "a process stopped while it checks whether others live keeps no dead one alive"
    ) { context in
        try await context.withGroup { group in
            var peers: [Peer] = []
            for _ in 0..<3 {
                let peer = try await context.startWithoutProcesses()
                try await peer.tell("open \(group.address)")
                peers.append(peer)
            }
            try await peers[0].tell("hold owner holder")
            await peers[0].killNow()
            try await peers[1].tell("arm commit.afterLock:stop")
            try peers[1].send("sessions")
            try await peers[1].stopped()
            let seen = try await peers[2].tell("sessions").split(separator: " ")
            try expect(seen.count, is: 2, "the number of participants: the one that looks and the stopped one")
            try expect(try await peers[2].tell("get owner"), is: "nothing", "what the dead one held")
            peers[1].signal(.continue)
            try expect(try await peers[1].done().split(separator: " ").count, is: 2, "what the stopped one sees")
        }
    }
}
