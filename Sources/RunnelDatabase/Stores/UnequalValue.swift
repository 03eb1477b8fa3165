import Foundation

/// What a value that is not equal to itself is compared by: what it is encoded as.
///
/// By `==`, a value with a NaN differs from its own copy, so it would count as new whenever it is told.
struct UnequalValue: Equatable {
  /// The value as JSON, with texts for numbers that JSON does not have; nil if it cannot be encoded.
  private let text: Data?

  /// Makes what a value is compared by; nil if it is equal to itself, so that `==` says enough.
  ///
  /// O(n) in the size of a value that is not equal to itself.
  init?(_ value: some Encodable & Equatable) {
    let copy = value
    if value == copy { return nil }
    let encoder = JSONEncoder()
    // The members of a dictionary have an order only if they are sorted.
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    text = try? encoder.encode(value)
  }
}
