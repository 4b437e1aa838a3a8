/// What carrying out an action has brought to light.
public enum ConnectivityFinding: Hashable, Sendable {
    /// It is done.
    case done
    /// The answer to ``ConnectivityAction/prepareForBackground(interval:)``.
    case preparation(BackgroundPreparation)
    /// The answer to ``ConnectivityAction/checkConnectivity``.
    case connection(ConnectionCheck)
}
