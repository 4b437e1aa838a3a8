internal import CoreAPI
internal import Wormholes

struct Job: Codable, Sendable {
    var file = ""
}

extension QueueID where Message == Job {
    static let jobs = QueueID("jobs")
}

func work(on wormhole: Wormhole, convert: (Job) async throws -> Void) async throws {
    for try await job in try await wormhole.consume(.jobs) {
        try await convert(try job.message)
        try await job.acknowledge()
    }
}

func finish(_ job: QueuedMessage<Job>, with result: [UInt8], in group: any SharedGroup) async throws {
    var transaction = Transaction()
    transaction.put(try Key("converted/\(job.item)"), result)
    try job.addAcknowledgement(to: &transaction)
    _ = try await group.commit(transaction)  // both, or neither
}

func ask(_ wormhole: Wormhole) async throws -> Int {
    let doubling = RequestID<Int, Int>("double")

    let answer = try await wormhole.request(21, of: doubling, timeout: .seconds(5))

    for try await request in try await wormhole.requests(of: doubling) {
        try await request.reply(request.request * 2)
    }
    return answer
}
