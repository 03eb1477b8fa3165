/// The mistakes of a file: reading goes on after each one, so that all are told.
final class Mistakes {
  private var found: [ConfigurationError] = []

  /// How many there are so far.
  var count: Int { found.count }

  /// What a function reads; nil for a mistake, which is kept.
  func reading<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
      return try read()
    } catch let error as ConfigurationError {
      found.append(error)
      return nil
    }
  }

  /// - Throws: `ConfigurationError` with all mistakes, if there are any.
  func check() throws {
    let sorted = found.enumerated()
      .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
      .map(\.element)
    guard var first = sorted.first else { return }
    first.others = Array(sorted.dropFirst())
    throw first
  }
}
