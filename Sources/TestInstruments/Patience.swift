/// How long a case waits for what must come: long enough for a slow and busy machine, since only a failing case waits it
/// out.
public enum Patience {
    /// The usual limit of this task and its children. Whoever expects failures lowers it.
    @TaskLocal public static var usual: Duration = .seconds(30)
    /// The limit for something that does a lot of work.
    public static let long: Duration = .seconds(240)
}
