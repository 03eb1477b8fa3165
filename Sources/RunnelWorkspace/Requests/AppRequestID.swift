/// The id of a request from the workspace to the database; the answer carries it.
///
/// The number is also that of the `DatabaseRequest`, so that no other number has to be mapped to
/// it.
package struct AppRequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let number: Int

  package init(_ number: Int) { self.number = number }

  package static func < (left: AppRequestID, right: AppRequestID) -> Bool {
    left.number < right.number
  }

  package var description: String { "\(number)" }
}
