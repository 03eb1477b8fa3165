/// The name of one request that the workspace makes of the database; its answer carries it.
///
/// It is also the number of the `DatabaseRequest`, so that no other number has to be mapped to it.
struct RequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
  let number: Int

  init(_ number: Int) { self.number = number }

  static func < (left: RequestID, right: RequestID) -> Bool { left.number < right.number }

  var description: String { "\(number)" }
}
