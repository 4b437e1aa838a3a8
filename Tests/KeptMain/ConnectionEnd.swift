/// The server has closed the connection, or it failed.
struct ConnectionEnd: Error {}
