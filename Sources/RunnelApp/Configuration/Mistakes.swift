/// Collects the mistakes of a file: reading goes on after each mistake, so that all are reported.
final class Mistakes {
  private var found: [ConfigurationError] = []

  /// The number of mistakes so far.
  var count: Int { found.count }

  /// Returns the first mistake that was found after a number of others.
  func first(after count: Int) -> ConfigurationError? { found.dropFirst(count).first }

  /// Returns the value that a function reads, or nil for a mistake, which is kept.
  func reading<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
      return try read()
    } catch let error as ConfigurationError {
      found.append(error)
      return nil
    }
  }

  /// Keeps a mistake.
  func note(_ mistake: ConfigurationError) { found.append(mistake) }

  /// All mistakes as one error; nil if there are none.
  var error: ConfigurationError? {
    let sorted = found.enumerated()
      .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
      .map(\.element)
    guard var first = sorted.first else { return nil }
    first.others = Array(sorted.dropFirst())
    return first
  }
}
