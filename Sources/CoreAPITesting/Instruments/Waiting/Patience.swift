/// How long tests wait for what must come: long enough for a slow and busy machine, since only a failing test waits it
/// out.
package enum Patience {
    /// The usual limit.
    package static let usual: Duration = .seconds(30)
    /// The limit for a test that does a lot of work.
    package static let long: Duration = .seconds(240)
}
