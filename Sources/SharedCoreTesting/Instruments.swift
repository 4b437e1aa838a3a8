// The clock and the waits of both kits are whoever's who imports this one.
@_exported public import TestInstruments
