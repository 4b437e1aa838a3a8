internal import Platform

#if FAIL_POINTS
    /// Makes a place the only one at which this process stops or ends: ``FailPoint``. For the tests, in debug builds alone: it is
    /// in no header, and the library that users get does not export it.
    @c(sharedcore_arm_fail_point)
    public func armFailPoint(_ place: UnsafePointer<CChar>?) {
        if let place { FailPoint.armOnly(String(cString: place)) }
    }
#endif
