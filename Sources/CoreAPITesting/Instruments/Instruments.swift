// A target that imports this one gets the clock and the waits of both kits.
@_exported public import TestInstruments
