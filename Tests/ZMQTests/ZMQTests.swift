internal import Testing

/// Everything that runs hubs, one test after another: fail points are the whole process's.
@Suite("ZeroMQ", .serialized)
enum ZMQTests {}
