#if Etcd
    internal import CoreAPI
    internal import GRPCCore
    internal import Platform
    internal import SwiftProtobuf
    internal import Synchronization

    /// A listener to the changes in a range of keys.
    protocol WatchListener: AnyObject, Sendable {
        /// The range of keys to watch.
        var range: Range<KeyBound> { get }
        /// The first revision that the listener has not received.
        var nextRevision: Int64 { get }
        /// Takes events in order, all events of a revision at once.
        func take(_ events: [Mvccpb_Event])
        /// Revisions from ``nextRevision`` on are compacted away: the listener must restart, and register again.
        func lost()
        /// Receives the reason why the cluster has refused the watch.
        func refused(_ reason: String)
    }

    /// The single stream over which a process watches everything, created again when it breaks.
    final class WatchStream: Sendable {
        private struct Content {
            var listeners: [Int64: any WatchListener] = [:]
            /// The listeners with a confirmed watch.
            var confirmed: Set<Int64> = []
            /// The events of incomplete revisions, by the id of the watch: further events of the same revision have not
            /// arrived yet.
            var parts: [Int64: [Mvccpb_Event]] = [:]
            var lastID: Int64 = 0
            var requests: AsyncStream<Etcdserverpb_WatchRequest>.Continuation?
            var task: Task<Void, Never>?
            var stream: Task<Void, Never>?
        }

        private let content = Mutex(Content())

        func start(on cluster: Cluster) {
            let task = Task { [weak self, weak cluster] in
                while !Task.isCancelled {
                    guard let self, let member = cluster?.member else { return }
                    let began = ContinuousClock.now
                    await self.run(on: member)
                    guard !Task.isCancelled else { return }
                    cluster?.leave(member)
                    // If a stream broke within a second, wait before the next one is opened.
                    if began.duration(to: .now) < .seconds(1) { try? await Task.sleep(for: .milliseconds(100)) }
                }
            }
            content.withLock { $0.task = task }
        }

        func end() {
            let (task, stream) = content.withLock { ($0.task, $0.stream) }
            task?.cancel()
            stream?.cancel()
        }

        /// Breaks the stream, so that it is created again with the member chosen by then.
        func restart() {
            content.withLock { $0.stream }?.cancel()
        }

        /// Adds a listener; returns its id.
        func add(_ listener: any WatchListener) -> Int64 {
            let (id, requests) = content.withLock { content in
                content.lastID += 1
                content.listeners[content.lastID] = listener
                return (content.lastID, content.requests)
            }
            requests?.yield(Self.creation(id, for: listener))
            return id
        }

        func remove(_ id: Int64) {
            let requests = content.withLock { content in
                content.confirmed.remove(id)
                content.parts[id] = nil
                return content.listeners.removeValue(forKey: id) == nil ? nil : content.requests
            }
            requests?.yield(.with { $0.cancelRequest = .with { $0.watchID = id } })
        }

        private static func creation(_ id: Int64, for listener: any WatchListener) -> Etcdserverpb_WatchRequest {
            .with {
                $0.createRequest = .with {
                    $0.key = listener.range.lowerBound.bytes
                    $0.rangeEnd = listener.range.upperBound.bytes
                    $0.startRevision = listener.nextRevision
                    $0.watchID = id
                    // The server splits missed events into messages of the size of a request at most. A single message
                    // could be too large for the receiver.
                    $0.fragment = true
                }
            }
        }

        private func run(on member: Member) async {
            let (requests, sender) = AsyncStream<Etcdserverpb_WatchRequest>.makeStream()
            let stream = Task {
                do {
                    try await Etcdserverpb_Watch.Client(wrapping: member.connection).watch(
                        request: StreamingClientRequest { writer in
                            for await request in requests { try await writer.write(request) }
                        }, options: Cluster.options(timeout: nil)
                    ) { response in
                        for try await message in response.messages { self.take(message) }
                    }
                } catch {
                    // After any error, the next stream continues from the listeners' revisions.
                }
            }
            content.withLock { content in
                content.stream = stream
                content.requests = sender
                content.confirmed = []
                content.parts = [:]
                // Under the lock, so that no listener is removed before its watch is requested.
                for (id, listener) in content.listeners { sender.yield(Self.creation(id, for: listener)) }
            }
            await withTaskCancellationHandler {
                await stream.value
            } onCancel: {
                stream.cancel()
            }
            sender.finish()
            content.withLock { $0.requests = nil }
        }

        /// Handles a refusal without a watch id. The refused watch is one that was not confirmed yet. The server reads
        /// no further requests on this stream.
        private func deny(_ reason: String) {
            let (denied, stream) = content.withLock { content in
                let denied = content.listeners.filter { !content.confirmed.contains($0.key) }
                for id in denied.keys { content.listeners[id] = nil }
                return (Array(denied.values), content.stream)
            }
            for listener in denied { listener.refused(reason) }
            stream?.cancel()
        }

        private func take(_ message: Etcdserverpb_WatchResponse) {
            let known = content.withLock { content in
                if message.created, !message.canceled { content.confirmed.insert(message.watchID) }
                return content.listeners[message.watchID]
            }
            guard let listener = known else {
                if message.canceled, message.created { deny(message.cancelReason) }
                return
            }
            if message.canceled {
                content.withLock { content in
                    content.listeners[message.watchID] = nil
                    content.confirmed.remove(message.watchID)
                    content.parts[message.watchID] = nil
                }
                if message.compactRevision > 0 { listener.lost() } else { listener.refused(message.cancelReason) }
            } else {
                let events = whole(message)
                if !events.isEmpty { listener.take(events) }
            }
        }

        /// Returns the events of complete revisions: those of a message, together with events of its first revision
        /// that came in an earlier message. Keeps the events of the last revision if more of them may follow.
        private func whole(_ message: Etcdserverpb_WatchResponse) -> [Mvccpb_Event] {
            if EtcdDefect.tornFragments.isPresent { return message.events }
            return content.withLock { content in
                // The listener may have been removed. Then keep no events for it, because they would never be fetched.
                guard content.listeners[message.watchID] != nil else { return [] }
                let earlier = content.parts.removeValue(forKey: message.watchID)
                var events = earlier.map { $0 + message.events } ?? message.events
                guard message.fragment, let last = events.last?.kv.modRevision else { return events }
                let end = events.firstIndex { $0.kv.modRevision == last } ?? events.endIndex
                content.parts[message.watchID] = Array(events[end...])
                events.removeSubrange(end...)
                return events
            }
        }
    }
#endif
