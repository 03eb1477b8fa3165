import ArgumentParser
import RunnelBase
import RunnelTree
import RunnelWorkspace

/// The children of a place to select, and their order.
struct QueryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The order: the path of a child, '$value', '$priority' or '$key' (default: '$key').",
      discussion: """
        A ':desc' suffix reverses the order. Several orders are separated by commas, or each has an \
        option of its own: created:desc,likes. Equal children are ordered by key.
        """,
      valueName: "child"),
    transform: OrderList.init)
  var orderBy: [OrderList] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only children that match this predicate.",
      discussion: """
        Tests of the value at a path below a child, or of '$key', '$value' and '$priority': == != < \
        <= > >= with a JSON value, contains and begins with a text (contains~ and begins~ disregard \
        case), exists and missing before the path (missing note), or the path alone for a true value; \
        joined by and, or, not and parentheses: author == "ana" and (likes >= 3 or not pinned). A name with blanks or other signs \
        stands between backticks: `full name` == "Ana".
        """,
      valueName: "predicate"),
    transform: QueryOptions.predicate)
  var filter: ChildPredicate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Start at this JSON value; a key may follow after a comma.",
      discussion: "With several orders, give a value for each of the first ones.",
      valueName: "json"),
    transform: Bound.init)
  var startAt: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Start after this value.", valueName: "json"),
    transform: Bound.init)
  var startAfter: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("End at this value.", valueName: "json"),
    transform: Bound.init)
  var endAt: Bound?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("End before this value.", valueName: "json"),
    transform: Bound.init)
  var endBefore: Bound?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only children with exactly this value.", valueName: "json"),
    transform: Bound.init)
  var equalTo: Bound?

  @Option(help: ArgumentHelp("The most children, counted from the beginning.", valueName: "count"))
  var limitToFirst: Int?

  @Option(help: ArgumentHelp("The most children, counted from the end.", valueName: "count"))
  var limitToLast: Int?

  /// A bound as given: values for the first components of the order, and possibly a key.
  struct Bound {
    var values: [IndexValue]
  }

  /// The query that the options describe.
  ///
  /// - Throws: `ValidationError` if they contradict each other.
  func query(at path: Path) throws -> Query {
    try checkCombinations()
    let index = try chosenIndex()
    let start = try (startAt ?? startAfter)?.place(in: index)
    let end = try (endAt ?? endBefore)?.place(in: index)
    let same = try equalTo?.place(in: index)
    do throws(TreeError) {
      var query = try Query(path).ordered(by: index)
      if let (values, key) = start {
        query = try query.starting(at: values, key: key, isInclusive: startAfter == nil)
      }
      if let (values, key) = end {
        query = try query.ending(at: values, key: key, isInclusive: endBefore == nil)
      }
      if let (values, key) = same { query = try query.equal(to: values, key: key) }
      if let filter { query = try query.filtered(by: filter) }
      if let limitToFirst { query = try query.limited(to: limitToFirst, from: .first) }
      if let limitToLast { query = try query.limited(to: limitToLast, from: .last) }
      return query
    } catch {
      let hint = orderBy.isEmpty && hasBounds ? " Choose another order with --order-by." : ""
      throw ValidationError(error.message + hint)
    }
  }

  private func chosenIndex() throws -> QueryIndex {
    if orderBy.isEmpty { return .key }
    do throws(TreeError) {
      return try QueryIndex(orderBy.flatMap(\.keys))
    } catch {
      throw ValidationError(error.message)
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
      throw ValidationError("--equal-to excludes the other bounds: leave them out.")
    }
    if limitToFirst != nil, limitToLast != nil {
      throw ValidationError("--limit-to-first and --limit-to-last exclude each other: give one.")
    }
  }
}

/// The components of `--order-by`.
struct OrderList {
  var keys: [SortKey]

  /// Reads components separated by commas.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  init(_ text: String) throws {
    do throws(TreeError) {
      keys = try SortKey.list(text)
    } catch  where error.code == .invalidQuery {
      throw ValidationError(
        error.message + " A component is a child, or '$key', '$value' or '$priority' in single "
          + "quotes, which keep the shell from replacing them; ':desc' may follow.")
    } catch {
      throw ValidationError(error.message + OrderList.hint(for: text))
    }
  }

  /// Returns advice about a name with signs that no key may have; empty for other names.
  private static func hint(for text: String) -> String {
    text.contains { ".#[]".contains($0) }
      ? " In names from tables, such signs are stored as in addresses: . as %2E, # as %23, [ as %5B and "
        + "] as %5D."
      : ""
  }
}

extension QueryOptions {
  /// Returns how a name with signs that no key may have is written, if an error is about one; empty for
  /// other errors.
  private static func advice(about error: String) -> String {
    guard let end = error.firstRange(of: "\" holds '")?.lowerBound,
      let start = error[..<end].firstIndex(of: "\"")
    else { return "" }
    let name = WritableKey.name(of: String(error[error.index(after: start)..<end]))
    let key = WritableKey.key(of: name).text
    if key == name { return "" }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let isPath = parts.count > 1 && parts.allSatisfy { WritableKey.key(of: String($0)).text == $0 }
    let path =
      isPath ? " A field of a field is named by its path: `\(parts.joined(separator: "/"))`." : ""
    return path + " A name from a table is stored as in addresses: write `\(key)` for it."
  }

  /// Reads a predicate.
  ///
  /// - Throws: `ValidationError` with the place of the mistake under the text.
  static func predicate(_ text: String) throws -> ChildPredicate {
    do throws(ChildPredicate.SyntaxError) {
      return try ChildPredicate(parsing: text)
    } catch {
      // Escaping would shift the text above the pointer.
      let isPlain = !text.unicodeScalars.contains(where: ControlCharacters.contains)
      let pointer = String(repeating: " ", count: error.offset) + "^"
      throw ValidationError(
        "\(error)" + advice(about: "\(error)") + (isPlain ? "\n  \(text)\n  \(pointer)" : ""))
    }
  }
}

extension QueryOptions.Bound {
  /// Reads JSON scalars separated by commas.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  init(_ text: String) throws {
    // Array elements have the same grammar.
    guard case .array(let parts)? = try? JSONValue(parsing: "[\(text)]"), !parts.isEmpty else {
      // The value is parsed alone, so that the error has its own position.
      _ = try CommandLineJSON.value(text)
      throw ValidationError("it is not JSON.")
    }
    values = try parts.map { json in
      if json == .null { return .null }
      guard let leaf = Leaf(json) else {
        throw ValidationError("a bound is null, a boolean, a number or a string.")
      }
      return .leaf(leaf)
    }
  }

  /// Returns the values for an order, and a key if there is one value more than the order has
  /// components.
  ///
  /// - Throws: `ValidationError` if there are too many, or the last one is not a key.
  func place(in index: QueryIndex) throws -> (values: [IndexValue], key: Key?) {
    let count = max(index.sortKeys.count { $0.field != .key }, 1)
    if values.count <= count { return (values, nil) }
    guard values.count == count + 1, let last = values.last else {
      let what = count == 1 ? "one value" : "up to \(count) values"
      throw ValidationError("A bound is \(what), and a key after a comma.")
    }
    guard case .leaf(.string(let text)) = last else {
      throw ValidationError("In a bound, the key after the comma is a string in quotes.")
    }
    do throws(TreeError) {
      return (Array(values.dropLast()), try Key(text))
    } catch {
      throw ValidationError(error.message)
    }
  }
}
