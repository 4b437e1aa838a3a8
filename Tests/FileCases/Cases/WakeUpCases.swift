internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform

/// N4, N9: a waiting process is woken. No process that waits here polls without a signal, so only a wake-up brings the
/// update.
enum WakeUpCases {
    static let all = [sleepersAreWoken, listenersAreInherited, overflow]

    static let sleepersAreWoken = ConformanceCase(
        "F-N4a", "a process that sleeps at shared memory, where files cannot be watched, is woken by each writer"
    ) { context in
        for place in SleepingPlace.allCases {
            try await context.withGroup { group in
                let store = try await group.open()
                let writer = try await group.join()
                let peer = try await context.start(arming: place.failPoints)
                try await peer.tell("open \(group.address) silent")
                for count in 1...20 as ClosedRange<UInt64> {
                    // The peer sleeps for other channels each time.
                    if count == 16 { try await peer.tell("forget \(12 * place.namesAtOnce)") }
                    for number in 0..<place.namesAtOnce { try await peer.tell("observe news-\(count)-\(number)") }
                    try expect(try await peer.tell("wakeUp"), is: "sharedMemory", "how it is woken")
                    if count.isMultiple(of: 2) {
                        try await writer.tell("post news-\(count)-0 \(count)")
                    } else {
                        try await store.post(NotificationName("news-\(count)-0"), state: count)
                    }
                    try await eventually("the sleeper is woken for post \(count), \(place)") {
                        try await peer.tell("seen") == "\(count) \(count)"
                    }
                }
                try await peer.tell("forget 1000")
                try await eventually("no thread of it sleeps at shared memory any more, \(place)") {
                    try !Self.threads(of: peer.pid).contains("sc-signal")
                }
            }
        }
    }

    /// At which futex words a process sleeps.
    private enum SleepingPlace: CaseIterable {
        /// At one for each of its channels.
        case channels
        /// At the channel of the group, because the system does not let a thread sleep at several.
        case group
        /// First at its own channels, then at the group's, because one call does not take so many channels, then at its
        /// own again.
        case bothInTurn

        var failPoints: String {
            self == .group ? CaseContext.onlyWhenWoken + ",sleep.several:fail" : CaseContext.onlyWhenWoken
        }

        var namesAtOnce: Int { self == .bothInTurn ? 16 : 1 }
    }

    /// The names of a process's threads.
    private static func threads(of pid: Int32) throws -> [String] {
        try Directory(path: "/proc/\(pid)/task").names().compactMap { thread in
            OpenFile.text(of: "/proc/\(pid)/task/\(thread)/comm").map { String($0.prefix { $0 != "\n" }) }
        }
    }

    static let listenersAreInherited = ConformanceCase(
        "F-N9a", "a listener is woken also in the journal by which a frozen writer was passed over"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            for words in ["", " silent"] {
                let observer = try await context.start(arming: CaseContext.onlyWhenWoken)
                try await observer.tell("open \(group.address)\(words)")
                try await observer.tell("observe news")
                let frozen = try await group.join()
                try await frozen.tell("arm commit.beforePublish:stop")
                try frozen.send("put frozen yes")
                try await frozen.stopped()
                for count in 1...3 as ClosedRange<UInt64> {
                    try await store.post("news", state: count)
                    try await eventually("the listener is woken for post \(count) after the roll") {
                        try await observer.tell("seen") == "\(count) \(count)"
                    }
                }
                frozen.signal(.continue)
                try await frozen.done()
            }
        }
    }

    static let overflow = ConformanceCase(
        "F-N9b", "when the system's queue of events overflows, all processes read, also what was dropped"
    ) { context in
        try await context.withGroup { busy in
            try await context.withGroup { quiet in
                let observer = try await context.startHearingBells(of: busy.address)
                try await observer.tell("observe b")
                try await observer.tell("another \(quiet.address)")
                try await observer.tell("observe c")
                let wakeChannels = try Directory(path: busy.address).names().filter { $0.hasPrefix("bell-") }
                try expect(
                    wakeChannels.count, is: 2, "the bells of the two names: repeated events of one would be one event")
                let poster = try await busy.join()
                let other = try await quiet.join()

                observer.signal(.stop)
                try await observer.stopped()
                let count = try queueLength() / 2 + 100
                try await poster.tell("alternate a b \(count)", timeout: TestTimeout.long)
                // Of this one there is no event any more: the queue is full.
                try await other.tell("post c 3")
                observer.signal(.continue)
                try await eventually("everything is delivered, also what was dropped") {
                    try await observer.tell("seen").hasPrefix("\(2 * count + 1) ")
                }
                // The ends of these processes would be reported as well.
                withExtendedLifetime((poster, other)) {}
            }
        }
    }

    /// The number of events that the system keeps for a process that does not read them.
    private static func queueLength() throws -> Int {
        let path = "/proc/sys/fs/inotify/max_queued_events"
        let text = String(decoding: try OpenFile(path: path, .read).read(count: 32, at: 0), as: UTF8.self)
        return try expectSome(Int(text.filter(\.isNumber)), "the length of the system's queue of events")
    }
}
