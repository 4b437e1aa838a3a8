internal import Testing

/// The supervision of a Main: its machine, its keeper, its kept sockets.
@Suite("Keeper") enum KeeperTests {}
