/// A double that is no JSON number: NaN or infinite.
public struct JSONNumberError: Error, Hashable, Sendable {
  /// The double.
  public var double: Double

  /// Makes an error.
  public init(_ double: Double) { self.double = double }
}

extension JSONNumberError: CustomStringConvertible {
  /// The message for a person: what happened and what to do.
  public var description: String {
    "\(double) is no finite number, and JSON has no others: check it with `isFinite` before it is written."
  }
}
