internal import BundledHarnesses

// The second process of a test over files. Where it is stopped or killed in the middle of a write, the command `arm` or
// the environment says (see `FailPoint`).
await FileHarness.servePeer()
