/// A condition on a child, beyond its place in an order.
///
/// Semantics:
/// - Two values are equal if they have one kind and are the same; strings are compared by code
///   unit. `notEqual` is exactly the opposite, so it also holds where nothing or a node with
///   children stands.
/// - `less`, `lessOrEqual`, `greater` and `greaterOrEqual` hold only between values of one kind, in
///   the order of section 4.2. All four fail where nothing, a node with children or another kind
///   stands.
/// - The key is compared as keys are (section 4.1), with a string that is a key.
/// - `contains` and `begins` look at strings only, by code unit: nothing is normalized. If case is
///   ignored, both texts are compared in lower case, as Unicode maps it without a language.
///
/// As text (`init(parsing:)`, `description`):
///
/// ```
/// predicate = all { "or" all }            test  = field                       the field is true
/// all       = term { "and" term }               | field OP value              == != < <= > >=
/// term      = "not" term                        | field ("==" | "!=") "null"  missing, exists
///           | "(" predicate ")"                 | field ("contains" | "begins") string
///           | test                              | ("exists" | "missing") field
/// ```
///
/// `contains~` and `begins~` ignore case. A field is a path below the child, or `$key`, `$value`,
/// `$priority`. A field with spaces, operators or a word of the language in it stands in backticks,
/// where two backticks mean one. Values are JSON:
///
/// ```
/// author == "ana" and (likes >= 3 or not pinned)
/// `first name` == "Ana"
/// ```
///
/// Source: none; section 5 has only ranges of one order.
public indirect enum ChildPredicate: Hashable, Sendable {
  /// The value at a field compares with a value in this way.
  case compare(RowField, Comparison, Leaf)
  /// The field has a value or children.
  case exists(RowField)
  /// The string at a field matches a text.
  case matches(RowField, TextMatch)
  /// All of these predicates hold.
  case all([ChildPredicate])
  /// At least one of these predicates holds.
  case any([ChildPredicate])
  /// The predicate does not hold.
  case not(ChildPredicate)

  /// The way in which two values are compared.
  public enum Comparison: String, Hashable, Sendable, CaseIterable {
    /// The values have one kind and are the same.
    case equal = "=="
    /// The values are not equal.
    case notEqual = "!="
    /// The field's value comes before the other, and both are of one kind.
    case less = "<"
    /// The field's value comes before the other or is equal, and both are of one kind.
    case lessOrEqual = "<="
    /// The field's value comes after the other, and both are of one kind.
    case greater = ">"
    /// The field's value comes after the other or is equal, and both are of one kind.
    case greaterOrEqual = ">="
  }

  /// A text to look for in a string.
  public struct TextMatch: Hashable, Sendable {
    /// The place of a text within a string.
    public enum Place: String, Hashable, Sendable, CaseIterable {
      /// Anywhere.
      case contains
      /// At the beginning.
      case begins
    }

    /// The place of the text.
    public let place: Place
    /// The text.
    public let text: String
    /// True if case is ignored.
    public let ignoresCase: Bool
    /// The bytes looked for.
    private let bytes: [UInt8]

    /// Makes a match.
    public init(_ place: Place, _ text: String, ignoresCase: Bool = false) {
      self.place = place
      self.text = text
      self.ignoresCase = ignoresCase
      bytes = Array((ignoresCase ? text.lowercased() : text).utf8)
    }

    /// True if two matches look for the same code units in the same way.
    public static func == (left: TextMatch, right: TextMatch) -> Bool {
      left.place == right.place && left.ignoresCase == right.ignoresCase
        && left.text.hasSameUnits(as: right.text)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(place)
      hasher.combine(ignoresCase)
      text.hashUnits(into: &hasher)
    }

    /// True if a string matches.
    ///
    /// O(n m) in the worst case, O(n) as a rule.
    func holds(of string: String) -> Bool {
      var string = ignoresCase ? string.lowercased() : string
      return string.withUTF8 { units in
        guard units.count >= bytes.count else { return false }
        let lastStart = place == .begins ? 0 : units.count - bytes.count
        for start in 0...lastStart
        where units[start...].starts(with: bytes) { return true }
        return false
      }
    }
  }
}

// MARK: Limits

extension ChildPredicate {
  /// The most tests in one predicate.
  public static let testsMax = 256
  /// The greatest depth of predicates within each other.
  public static let depthMax = 32

  /// The reason why a query refuses this predicate, or nil if it accepts it.
  ///
  /// Refused are more than `testsMax` tests, a depth of more than `depthMax`, an empty child path, no
  /// predicates in `all` or `any`, and a key compared with what is no key.
  public var refusal: String? {
    if depth(atMost: ChildPredicate.depthMax) > ChildPredicate.depthMax {
      return "The predicate is nested too deep: \(ChildPredicate.depthMax) levels are allowed."
    }
    let count = testCount
    if count > ChildPredicate.testsMax {
      return "The predicate has \(count) tests: \(ChildPredicate.testsMax) are allowed."
    }
    return partRefusal
  }

  /// The depth, but at most one more than `limit`, so that the recursion cannot exhaust the stack.
  private func depth(atMost limit: Int) -> Int {
    if limit < 0 { return 1 }
    switch self {
    case .compare, .exists, .matches: return 0
    case .not(let predicate): return 1 + predicate.depth(atMost: limit - 1)
    case .all(let predicates), .any(let predicates):
      return 1 + (predicates.map { $0.depth(atMost: limit - 1) }.max() ?? 0)
    }
  }

  private var testCount: Int {
    switch self {
    case .compare, .exists, .matches: 1
    case .not(let predicate): predicate.testCount
    case .all(let predicates), .any(let predicates): predicates.reduce(0) { $0 + $1.testCount }
    }
  }

  private var partRefusal: String? {
    switch self {
    case .compare(.key, _, let leaf): return ChildPredicate.keyRefusal(of: leaf)
    case .compare(let field, _, _), .exists(let field), .matches(let field, _):
      return field == .child(.root) ? "A field of the predicate is empty: name a child." : nil
    case .not(let predicate): return predicate.partRefusal
    case .all(let predicates), .any(let predicates):
      if predicates.isEmpty { return "The predicate joins nothing: give it a test." }
      for predicate in predicates {
        if let reason = predicate.partRefusal { return reason }
      }
      return nil
    }
  }

  /// The reason why a value cannot be compared with keys, or nil if it can.
  static func keyRefusal(of leaf: Leaf) -> String? {
    guard case .string(let text) = leaf else {
      return "A key is compared with a text in quotes."
    }
    do throws(TreeError) {
      _ = try Key(text)
      return nil
    } catch {
      return error.message
    }
  }
}

// MARK: Evaluating

extension ChildPredicate {
  /// True if the predicate holds of a child.
  public func holds(of child: Child) -> Bool {
    holds(of: child.key) { $0.value(of: child) }
  }

  /// True if the predicate holds of the child with a key; the other fields are read when needed.
  ///
  /// Tests are made from the left, and end when the result is decided.
  package func holds<Failure: Error>(
    of key: Key, reading: (RowField) throws(Failure) -> IndexValue
  ) throws(Failure) -> Bool {
    switch self {
    case .compare(.key, let comparison, let leaf):
      guard case .string(let text) = leaf, let bound = try? Key(text) else {
        return comparison == .notEqual
      }
      return comparison.holds(key, bound)
    case .compare(let field, let comparison, let leaf):
      return comparison.holds(try reading(field), leaf)
    case .exists(.key): return true
    case .exists(let field): return try reading(field) != .null
    case .matches(.key, let match): return match.holds(of: key.text)
    case .matches(let field, let match):
      guard case .leaf(.string(let text)) = try reading(field) else { return false }
      return match.holds(of: text)
    case .not(let predicate): return try !predicate.holds(of: key, reading: reading)
    case .all(let predicates):
      for predicate in predicates where try !predicate.holds(of: key, reading: reading) {
        return false
      }
      return true
    case .any(let predicates):
      for predicate in predicates where try predicate.holds(of: key, reading: reading) {
        return true
      }
      return false
    }
  }
}

extension ChildPredicate.Comparison {
  /// True if two values of one kind compare in this way.
  func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: !(right < left)
    case .greater: right < left
    case .greaterOrEqual: !(left < right)
    }
  }

  fileprivate func holds(_ value: IndexValue, _ leaf: Leaf) -> Bool {
    switch (value, leaf) {
    case (.leaf(.bool(let a)), .bool(let b)): holds(a ? 1 : 0, b ? 1 : 0)
    case (.leaf(.number(let a)), .number(let b)): holds(a, b)
    case (.leaf(.string), .string): holds(value, .leaf(leaf))
    default: self == .notEqual
    }
  }
}
