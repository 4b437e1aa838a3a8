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
            /// Whether the member has said something: it lets this client in. The handshake does not show that, because a
            /// member looks at the client's certificate after the client's part of it.
            private var isSecured = false

            init(note: SecurityNote) {
                self.note = note
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                if !isSecured {
                    isSecured = true
                    note.content.withLock { $0 = nil }
                }
                context.fireChannelRead(data)
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                // Whatever ends a connection that was secured, such as a member's death, has another reason.
                if !isSecured { note.content.withLock { $0 = "\(error)" } }
                context.fireErrorCaught(error)
            }
        }
    }
#endif
