/// An open participation in a group: the shared dictionary and the notifications of one order.
public typealias SharedGroup = CrossProcessNotifier & SharedStore
