#if Etcd
    internal import NIOCore

    /// Answers a member's pings before the HTTP/2 library counts them.
    ///
    /// A member sends a ping with each answer, to measure the line. The library takes 200 of them in 30 s for an attack, and
    /// closes the connection; the transport over it does not let that be set. Everything else passes as it is.
    final class PingAnswers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private static let headerByteCount = 9
        private static let pingByteCount = 17
        private static let ping: UInt8 = 6
        private static let acknowledged: UInt8 = 1

        private var received = ByteBuffer()
        /// The bytes of the present frame that are still to come and pass.
        private var rest = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
            var kept = context.channel.allocator.buffer(capacity: received.readableBytes)
            while received.readableBytes > 0 {
                if rest > 0 {
                    guard var part = received.readSlice(length: min(rest, received.readableBytes)) else { break }
                    rest -= part.readableBytes
                    kept.writeBuffer(&part)
                    continue
                }
                let start = received.readerIndex
                guard let high = received.getInteger(at: start, as: UInt8.self),
                    let low = received.getInteger(at: start + 1, as: UInt16.self),
                    let type = received.getInteger(at: start + 3, as: UInt8.self),
                    let flags = received.getInteger(at: start + 4, as: UInt8.self),
                    received.readableBytes >= Self.headerByteCount
                else { break }
                if type == Self.ping, flags & Self.acknowledged == 0, high == 0, low == 8 {
                    guard var answer = received.readSlice(length: Self.pingByteCount) else { break }
                    answer.setInteger(flags | Self.acknowledged, at: answer.readerIndex + 4)
                    // Frames are written whole on this event loop, so it comes between two of them.
                    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
                } else if var header = received.readSlice(length: Self.headerByteCount) {
                    rest = Int(high) << 16 | Int(low)
                    kept.writeBuffer(&header)
                }
            }
            received.discardReadBytes()
            if kept.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(kept)) }
        }
    }
#endif
