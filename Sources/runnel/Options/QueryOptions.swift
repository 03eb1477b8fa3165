import ArgumentParser
import RunnelBase
import RunnelTree

/// Which children of a place, and in which order.
struct QueryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The order: a child's path, '$value', '$priority' or '$key' (default: '$key').",
      valueName: "child"),
    transform: QueryOptions.order)
  var orderBy: QueryIndex?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "From this value on, in JSON; a key may follow after a comma.", valueName: "json"),
    transform: Bound.init)
  var startAt: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("After this value.", valueName: "json"),
    transform: Bound.init)
  var startAfter: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Up to this value.", valueName: "json"),
    transform: Bound.init)
  var endAt: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Before this value.", valueName: "json"),
    transform: Bound.init)
  var endBefore: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("With exactly this value.", valueName: "json"),
    transform: Bound.init)
  var equalTo: Bound?

  @Option(help: ArgumentHelp("At most so many, from the beginning.", valueName: "count"))
  var limitToFirst: Int?

  @Option(help: ArgumentHelp("At most so many, from the end.", valueName: "count"))
  var limitToLast: Int?

  /// A bound as it is given: a value, and a key among equal values.
  struct Bound {
    var value: IndexValue
    var key: Key?
  }

  /// The query that the options describe.
  ///
  /// - Throws: `ValidationError` if they contradict each other.
  func query(at path: Path) throws -> Query {
    try checkCombinations()
    do throws(TreeError) {
      var query = try Query(path).ordered(by: orderBy ?? .key)
      if let bound = startAt ?? startAfter {
        query = try query.starting(
          at: bound.value, key: bound.key, isInclusive: startAfter == nil)
      }
      if let bound = endAt ?? endBefore {
        query = try query.ending(at: bound.value, key: bound.key, isInclusive: endBefore == nil)
      }
      if let equalTo { query = try query.equal(to: equalTo.value, key: equalTo.key) }
      if let limitToFirst { query = try query.limited(to: limitToFirst, from: .first) }
      if let limitToLast { query = try query.limited(to: limitToLast, from: .last) }
      return query
    } catch {
      let hint = orderBy == nil && hasBounds ? " Choose another order with --order-by." : ""
      throw ValidationError(error.message + hint)
    }
  }

  private var hasBounds: Bool {
    startAt != nil || startAfter != nil || endAt != nil || endBefore != nil || equalTo != nil
  }

  private func checkCombinations() throws {
    if startAt != nil, startAfter != nil {
      throw ValidationError("--start-at and --start-after exclude each other: give one.")
    }
    if endAt != nil, endBefore != nil {
      throw ValidationError("--end-at and --end-before exclude each other: give one.")
    }
    if equalTo != nil, startAt != nil || startAfter != nil || endAt != nil || endBefore != nil {
      throw ValidationError("--equal-to stands alone: leave the other bounds out.")
    }
    if limitToFirst != nil, limitToLast != nil {
      throw ValidationError("--limit-to-first and --limit-to-last exclude each other: give one.")
    }
  }

  private static func order(_ text: String) throws -> QueryIndex {
    switch text {
    case "$key": return .key
    case "$value": return .value
    case "$priority": return .priority
    default: break
    }
    if text.isEmpty || text.hasPrefix("$") {
      throw ValidationError(
        "name a child, or '$key', '$value' or '$priority' in single quotes, which keep the shell "
          + "from replacing them.")
    }
    return .child(try Place.path(text))
  }
}

extension QueryOptions.Bound {
  /// Reads a JSON scalar, and a key after a comma if there is one.
  ///
  /// - Throws: `ValidationError` that says what is wrong with it.
  init(_ text: String) throws {
    // The same grammar as that of an array's elements.
    guard case .array(let parts)? = try? JSONValue(parsing: "[\(text)]"), let json = parts.first
    else {
      // Parsed alone, for an error at its own place.
      _ = try CommandLineJSON.value(text)
      throw ValidationError("it is not JSON.")
    }
    switch json {
    case .null: value = .null
    case .bool(let bool): value = .leaf(.bool(bool))
    case .number(let number): value = .leaf(.number(number))
    case .string(let string): value = .leaf(.string(string))
    case .array, .object:
      throw ValidationError("a bound is null, a boolean, a number or a string.")
    }
    switch parts.count {
    case 1: key = nil
    case 2:
      guard case .string(let text) = parts[1] else {
        throw ValidationError("the key after the comma is a string in quotes.")
      }
      do throws(TreeError) {
        key = try Key(text)
      } catch {
        throw ValidationError(error.message)
      }
    default: throw ValidationError("a bound is one value, and a key after a comma.")
    }
  }
}
