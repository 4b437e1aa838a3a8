internal import CoreAPI

extension BootInstant {
    func nanoseconds(to other: BootInstant) -> Double {
        Double(other.nanoseconds &- nanoseconds)
    }
}
