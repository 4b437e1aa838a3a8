#if Etcd
    internal import NIOCore
    internal import Synchronization

    /// Why a connection could not be secured: the transport above says only that it was closed.
    final class SecurityNote: Sendable {
        private let content = Mutex<String?>(nil)

        /// What was wrong last; nil for nothing.
        var cause: String? { content.withLock { $0 } }

        /// What notes the errors of a connection, behind what secures it.
        var handler: any ChannelInboundHandler { Handler(note: self) }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            private let note: SecurityNote

            init(note: SecurityNote) {
                self.note = note
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                note.content.withLock { $0 = "\(error)" }
                context.fireErrorCaught(error)
            }
        }
    }
#endif
