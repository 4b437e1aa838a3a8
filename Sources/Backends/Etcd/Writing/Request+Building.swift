#if Etcd
    internal import FoundationEssentials
    internal import SwiftProtobuf

    extension Etcdserverpb_Compare {
        /// Returns whether a key was last changed at a revision; 0 for a missing key.
        static func modified(_ key: Data, at revision: Int64, _ result: CompareResult = .equal) -> Self {
            make(key, .mod, result) { $0.modRevision = revision }
        }

        static func created(_ key: Data, at revision: Int64, _ result: CompareResult = .equal) -> Self {
            make(key, .create, result) { $0.createRevision = revision }
        }

        static func exists(_ key: Data) -> Self {
            make(key, .version, .greater) { $0.version = 0 }
        }

        static func absent(_ key: Data) -> Self {
            make(key, .version, .equal) { $0.version = 0 }
        }

        static func value(_ key: Data, is value: Data) -> Self {
            make(key, .value, .equal) { $0.value = value }
        }

        /// Returns whether a range has no keys. The server compares each key of the range; for an empty range it
        /// compares version 0.
        static func empty(_ range: Range<KeyBound>) -> Self {
            make(range.lowerBound.bytes, .version, .equal) {
                $0.version = 0
                $0.rangeEnd = range.upperBound.bytes
            }
        }

        private static func make(
            _ key: Data, _ target: CompareTarget, _ result: CompareResult, _ fill: (inout Self) -> Void
        ) -> Self {
            .with {
                $0.key = key
                $0.target = target
                $0.result = result
                fill(&$0)
            }
        }
    }

    extension Etcdserverpb_RequestOp {
        static func put(_ key: Data, _ value: Data, lease: Int64 = 0) -> Self {
            .with {
                $0.requestPut = .with {
                    $0.key = key
                    $0.value = value
                    $0.lease = lease
                }
            }
        }

        static func delete(_ key: Data) -> Self {
            .with { $0.requestDeleteRange = .with { $0.key = key } }
        }

        static func delete(_ range: Range<KeyBound>) -> Self {
            .with {
                $0.requestDeleteRange = .with {
                    $0.key = range.lowerBound.bytes
                    $0.rangeEnd = range.upperBound.bytes
                }
            }
        }

        static func get(_ key: Data) -> Self {
            .with { $0.requestRange = .with { $0.key = key } }
        }

        static func first(in range: Range<KeyBound>) -> Self {
            .with {
                $0.requestRange = .with {
                    $0.key = range.lowerBound.bytes
                    $0.rangeEnd = range.upperBound.bytes
                    $0.limit = 1
                }
            }
        }

        static func count(in range: Range<KeyBound>) -> Self {
            .with {
                $0.requestRange = .with {
                    $0.key = range.lowerBound.bytes
                    $0.rangeEnd = range.upperBound.bytes
                    $0.countOnly = true
                }
            }
        }

        static func transaction(
            if compares: [Etcdserverpb_Compare] = [], then success: [Self], else failure: [Self] = []
        ) -> Self {
            .with { $0.requestTxn = Etcdserverpb_TxnRequest.make(if: compares, then: success, else: failure) }
        }

        /// The number of steps in one group: a server accepts 128 in all, counted from the outermost to the innermost
        /// transaction.
        static let groupSize = 24

        /// Returns the same steps, divided into inner transactions if they are too many.
        static func grouped(_ steps: [Self], atMost count: Int = groupSize) -> [Self] {
            guard steps.count > count else { return steps }
            let groups = stride(from: 0, to: steps.count, by: groupSize).map { start in
                transaction(then: Array(steps[start..<min(start + groupSize, steps.count)]))
            }
            return grouped(groups, atMost: count)
        }
    }

    extension Etcdserverpb_ResponseOp {
        /// The number of keys that each removal among the steps has removed, in order.
        var removedCounts: [Int64] {
            switch response {
            case .responseDeleteRange(let answer)?: [answer.deleted]
            case .responseTxn(let transaction)?: transaction.responses.flatMap(\.removedCounts)
            default: []
            }
        }
    }

    extension Etcdserverpb_TxnRequest {
        static func make(
            if compares: [Etcdserverpb_Compare] = [], then success: [Etcdserverpb_RequestOp],
            else failure: [Etcdserverpb_RequestOp] = []
        ) -> Self {
            .with {
                $0.compare = compares
                $0.success = success
                $0.failure = failure
            }
        }
    }
#endif
