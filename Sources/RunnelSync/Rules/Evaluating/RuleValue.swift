import RunnelBase
import RunnelTree

/// A value while a rule is evaluated.
///
/// Numbers are exact where the tree's are; arithmetic that leaves the integers goes on in doubles, as in
/// JavaScript. A result that is not finite is `notANumber`.
enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case notANumber
  case string(String)
  /// An object or a list of `auth`.
  case json(JSONValue)
  /// What `val()` gives for a node with children.
  case object(RulePlace)
  /// A place in the tree.
  case place(RulePlace)

  /// A value of `auth`.
  init(_ json: JSONValue) {
    switch json {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let value): self = .number(value)
    case .string(let value): self = .string(value)
    case .array, .object: self = .json(json)
    }
  }

  init(_ leaf: Leaf?) {
    switch leaf {
    case nil: self = .null
    case .bool(let value)?: self = .bool(value)
    case .number(let value)?: self = .number(value)
    case .string(let value)?: self = .string(value)
    }
  }

  init(finite double: Double) {
    self = JSONNumber(double).map { .number($0) } ?? .notANumber
  }

  /// The value as explanations show it: JSON where it has some, cut to a readable length.
  var shown: String {
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let number): return JSONValue.number(number).jsonText()
    case .notANumber: return "NaN"
    case .string(let text):
      let isLong = text.unicodeScalars.prefix(RuleValue.shownMax + 1).count > RuleValue.shownMax
      let head = String(String.UnicodeScalarView(text.unicodeScalars.prefix(RuleValue.shownMax)))
      return JSONValue.string(head).jsonText() + (isLong ? "..." : "")
    case .json(let json):
      let text = json.jsonText()
      let isLong = text.unicodeScalars.prefix(RuleValue.shownMax + 1).count > RuleValue.shownMax
      return isLong
        ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(RuleValue.shownMax))) + "..."
        : text
    case .object(let place): return "an object at \(place.text)"
    case .place(let place): return place.text
    }
  }

  private static let shownMax = 100
}

/// A place in the tree that a rule speaks of, before or after the operation.
///
/// It need not be one that can exist: a piece of a path may be no key.
struct RulePlace: Sendable {
  /// Which tree is meant.
  enum Moment: Sendable {
    case before
    case after
  }

  /// A relative path.
  struct Pieces: Sendable {
    fileprivate(set) var keys: [Key] = []
    /// How many of them are keys before the first one that is none.
    fileprivate(set) var possibleCount = 0

    /// Reads a path; an empty one leads to a place that does not exist.
    init(_ text: String) {
      for piece in Path.pieces(of: text) {
        if let key = try? Key(piece) {
          if possibleCount == keys.count { possibleCount += 1 }
          keys.append(key)
        } else {
          keys.append(Key(unchecked: piece))
        }
      }
      if keys.isEmpty { keys = [Key(unchecked: "")] }
    }
  }

  let moment: Moment
  private(set) var keys: [Key]
  private var possibleCount: Int

  /// A place of the tree.
  init(_ moment: Moment, _ keys: [Key]) {
    self.moment = moment
    self.keys = keys
    possibleCount = keys.count
  }

  /// The place below.
  func child(_ pieces: Pieces) -> RulePlace {
    var place = self
    if possibleCount == keys.count { place.possibleCount += pieces.possibleCount }
    place.keys += pieces.keys
    return place
  }

  /// The place above; nil at the root.
  var parent: RulePlace? {
    if keys.isEmpty { return nil }
    var place = self
    place.keys.removeLast()
    place.possibleCount = min(possibleCount, place.keys.count)
    return place
  }

  /// The place as one that can be read; nil if nothing can stand there.
  var path: Path? {
    guard possibleCount == keys.count, keys.count <= TreeLimits.depthMax else { return nil }
    let bytes = keys.reduce(max(keys.count - 1, 0)) { $0 + $1.text.utf8.count }
    return bytes <= TreeLimits.pathBytesMax ? Path(unchecked: keys) : nil
  }

  /// The place as text.
  var text: String { "/" + keys.map(\.text).joined(separator: "/") }
}
