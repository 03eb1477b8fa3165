public import RunnelBase
public import RunnelTree

/// A rule for one field of a record.
public struct FieldRule: Hashable, Sendable {
  /// The kind of value, and its bounds.
  public enum Kind: Hashable, Sendable {
    /// A text; its length is in characters.
    case text(length: ClosedRange<Int>? = nil)
    /// A whole number.
    case integer(ClosedRange<Int64>? = nil)
    /// A number.
    case number(ClosedRange<Double>? = nil)
    /// True or false.
    case boolean
    /// A time, in milliseconds since 1970.
    case time
    /// One of these values, which are offered in this order: `.choice(["low", "high", 3])`.
    case choice([Leaf])
    /// The key of a record of a resource, which must exist.
    case reference(String)
    /// Children.
    case object
    /// Any value.
    case any
  }

  /// The field.
  public var field: Key
  /// The allowed values.
  public var kind: Kind
  /// True if the field must have a value.
  public var isRequired: Bool
  /// The value in a new record if none is given, maybe a server value; nil for none.
  public var initial: JSONValue?

  /// Makes a rule.
  public init(_ field: Key, _ kind: Kind, isRequired: Bool = false, initial: JSONValue? = nil) {
    self.field = field
    self.kind = kind
    self.isRequired = isRequired
    self.initial = initial
  }

  /// Makes a rule for a field whose name is given as text.
  ///
  /// - Throws: `ResourceError` (`tree`) if the name is not a key.
  public init(
    _ field: String, _ kind: Kind, isRequired: Bool = false, initial: JSONValue? = nil
  ) throws(ResourceError) {
    let key = try ResourceError.wrapping { () throws(TreeError) in try Key(field) }
    self.init(key, kind, isRequired: isRequired, initial: initial)
  }
}

/// A mistake in one field of a record.
public struct FieldError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of mistakes.
  public enum Code: String, Hashable, Sendable {
    /// A required value is missing.
    case required
    /// The value is of another kind.
    case kind
    /// The number is out of bounds.
    case range
    /// The text is too short or too long.
    case length
    /// The value is not one of the choices.
    case choice
    /// The referenced record does not exist.
    case reference
    /// The resource has no such field.
    case unknown
  }

  /// The field.
  public var field: Key
  /// The kind of mistake.
  public var code: Code
  /// The expected value, in words for a person.
  public var message: String

  /// Makes an error.
  public init(_ field: Key, _ code: Code, _ message: String) {
    self.field = field
    self.code = code
    self.message = message
  }

  /// The field and the expected value.
  public var description: String { "`\(field)` \(message)" }
}

// MARK: Checking

extension FieldRule {
  /// The mistake in the value of the field, or nil if there is none.
  ///
  /// It is not checked whether a reference leads to a record.
  public func error(in value: Node) -> FieldError? {
    if value.isEmpty {
      return isRequired ? FieldError(field, .required, "is missing.") : nil
    }
    switch (kind, value.leaf) {
    case (.any, _), (.boolean, .bool?): return nil
    case (.object, nil): return nil
    case (.text(let length), .string(let text)?): return error(length, text)
    case (.integer(let range), .number(let number)?):
      guard let integer = number.integer else { return wrongKind }
      return error(range, integer)
    case (.number(let range), .number(let number)?): return error(range, number.double)
    case (.time, .number(let number)?): return number.integer == nil ? wrongKind : nil
    case (.choice(let leaves), let leaf?) where leaves.contains(leaf): return nil
    case (.choice, _): return FieldError(field, .choice, expectation)
    case (.reference, .string(let text)?):
      return (try? Key(text)) == nil ? wrongKind : nil
    case (.text, _), (.integer, _), (.number, _), (.boolean, _), (.time, _), (.reference, _),
      (.object, _):
      return wrongKind
    }
  }

  private var wrongKind: FieldError { FieldError(field, .kind, expectation) }

  private func error(_ length: ClosedRange<Int>?, _ text: String) -> FieldError? {
    guard let length, !length.contains(text.count) else { return nil }
    return FieldError(field, .length, expectation)
  }

  private func error<Value>(_ range: ClosedRange<Value>?, _ value: Value) -> FieldError? {
    guard let range, !range.contains(value) else { return nil }
    return FieldError(field, .range, expectation)
  }

  /// The expected value, as a clause for a message.
  private var expectation: String {
    switch kind {
    case .text(nil): "must be a text."
    case .text(let length?):
      length.upperBound == .max
        ? "must be a text of at least \(length.lowerBound) characters."
        : "must be a text of \(length.lowerBound) to \(length.upperBound) characters."
    case .integer(nil): "must be a whole number."
    case .integer(let range?): "must be a whole number \(FieldRule.words(range, .min, .max))."
    case .number(nil): "must be a number."
    case .number(let range?):
      "must be a number \(FieldRule.words(range, -.infinity, .infinity))."
    case .boolean: "must be true or false."
    case .time: "must be a time: whole milliseconds since 1970."
    case .choice(let leaves):
      "must be one of " + leaves.map { $0.json.jsonText() }.joined(separator: ", ") + "."
    case .reference(let resource): "must be the key of a record of `\(resource)`."
    case .object: "must be an object."
    case .any: "may be anything."
    }
  }

  private static func words<Value>(
    _ range: ClosedRange<Value>, _ least: Value, _ greatest: Value
  ) -> String {
    let (lower, upper) = (text(range.lowerBound), text(range.upperBound))
    return switch (range.lowerBound == least, range.upperBound == greatest) {
    case (false, true): "of \(lower) or more"
    case (true, false): "of \(upper) or less"
    default: "from \(lower) to \(upper)"
    }
  }

  /// Returns a number as it is written in a file: 100, and not 100.0.
  private static func text<Value>(_ value: Value) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// The rules of all fields of a record.
public struct ResourceSchema: Hashable, Sendable {
  /// The rules, in the order of a form.
  public var fields: [FieldRule]
  /// True if a record may have fields without a rule.
  public var allowsOthers: Bool

  /// Makes a schema; without fields it allows everything.
  public init(_ fields: [FieldRule] = [], allowsOthers: Bool = true) {
    self.fields = fields
    self.allowsOthers = allowsOthers
  }

  /// The mistakes in a record: at most one for each field, in the order of the rules, then those of
  /// fields without a rule.
  ///
  /// `known` are fields that the registry maintains, such as counters.
  public func errors(in record: Node, known: Set<Key> = []) -> [FieldError] {
    var errors = fields.compactMap { $0.error(in: record[$0.field]) }
    if allowsOthers { return errors }
    let ruled = known.union(fields.map(\.field))
    for child in record.children where !ruled.contains(child.key) {
      errors.append(FieldError(child.key, .unknown, "is not a field of this resource."))
    }
    return errors
  }

  /// The rule of a field, if it has one.
  public func rule(of field: Key) -> FieldRule? { fields.first { $0.field == field } }
}
