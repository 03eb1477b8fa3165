import RunnelBase
import RunnelTree

/// A value while a rule is evaluated.
///
/// Numbers are exact where the tree's numbers are. Arithmetic that leaves the integers goes on in
/// doubles, as in JavaScript. A result that is not finite is `notANumber`.
enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case notANumber
  case string(String)
  /// An object or a list of `auth`.
  case json(JSONValue)
  /// The value of `val()` for a node with children.
  indirect case object(RulePlace)
  /// A place in the tree.
  indirect case place(RulePlace)

  /// Makes the value of a part of `auth`.
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

  /// The value as explanations show it: JSON where possible, cut to a readable length.
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
    case .object(let place): return "an object at \(place.text(in: []))"
    case .place(let place): return place.text(in: [])
    }
  }

  private static let shownMax = 100
}

extension RuleValue {
  /// The same value, independent of the place of the operation.
  func absolute(in keys: [Key]) -> RuleValue {
    switch self {
    case .object(let place): .object(place.absolute(in: keys))
    case .place(let place): .place(place.absolute(in: keys))
    default: self
    }
  }
}

/// A place in the tree that a rule names, before or after the operation.
///
/// The place consists of a level of the operation's path and a path from there, so that the places
/// which rules use most often are made without copying. The place may be impossible, because a part
/// of its path may be no key.
struct RulePlace: Sendable {
  /// The moment: before or after the operation.
  enum Moment: Sendable {
    case before
    case after
  }

  /// A relative path.
  struct Pieces: Sendable {
    fileprivate(set) var keys: [Key] = []
    /// The number of parts before the first one that is no key.
    fileprivate(set) var possibleCount = 0

    /// Parses a path; an empty one leads to a place that does not exist.
    init(_ text: String) {
      var text = text
      // Most paths are one key, which is taken as it is.
      if !text.utf8.contains(UInt8(ascii: "/")) {
        if !text.isEmpty { add(text) }
      } else {
        addPieces(of: &text)
      }
      if keys.isEmpty { keys = [Key(unchecked: "")] }
    }

    private mutating func addPieces(of text: inout String) {
      text.withUTF8 { bytes in
        var start = 0
        for index in 0...bytes.count {
          if index < bytes.count, bytes[index] != UInt8(ascii: "/") { continue }
          if index > start {
            let piece = UnsafeBufferPointer(rebasing: bytes[start..<index])
            add(String(decoding: piece, as: UTF8.self))
          }
          start = index + 1
        }
      }
    }

    private mutating func add(_ piece: String) {
      guard let key = try? Key(piece) else { return keys.append(Key(unchecked: piece)) }
      if possibleCount == keys.count { possibleCount += 1 }
      keys.append(key)
    }
  }

  let moment: Moment
  /// The number of keys of the operation's path before `extra` begins.
  private var level: Int
  /// The rest of the path.
  private var extra: [Key] = []
  /// The number of keys in `extra` that are possible keys.
  private var possibleCount = 0
  /// The node at the place, where it is known without reading the tree.
  private(set) var node: Node?

  /// Makes a place on the path of the operation.
  init(_ moment: Moment, level: Int, node: Node? = nil) {
    self.moment = moment
    self.level = level
    self.node = node
  }

  /// Returns a place below this one.
  func child(_ pieces: Pieces) -> RulePlace {
    var place = self
    if possibleCount == extra.count { place.possibleCount += pieces.possibleCount }
    if extra.isEmpty { place.extra = pieces.keys } else { place.extra += pieces.keys }
    if let node {
      let isPossible = place.possibleCount == place.extra.count
      place.node = isPossible ? pieces.keys.reduce(node) { $0[$1] } : .empty
    }
    return place
  }

  /// The node of a place below this one, if that of this one is known without reading.
  func knownNode(_ pieces: Pieces) -> Node? {
    guard let node else { return nil }
    if pieces.possibleCount < pieces.keys.count { return .empty }
    return pieces.keys.reduce(node) { $0[$1] }
  }

  /// The place above; nil at the root.
  var parent: RulePlace? {
    var place = self
    place.node = nil
    if !extra.isEmpty {
      place.extra.removeLast()
      place.possibleCount = min(possibleCount, place.extra.count)
    } else if level > 0 {
      place.level -= 1
    } else {
      return nil
    }
    return place
  }

  /// Returns the place as a readable path; nil if nothing can exist there.
  ///
  /// `keys` is the path of the operation.
  func path(in keys: [Key]) -> Path? {
    if extra.isEmpty {
      return Path(unchecked: level == keys.count ? keys : Array(keys.prefix(level)))
    }
    guard possibleCount == extra.count, level + extra.count <= TreeLimits.depthMax else {
      return nil
    }
    let all = level == 0 ? extra : keys.prefix(level) + extra
    let bytes = all.reduce(all.count - 1) { $0 + $1.text.utf8.count }
    return bytes <= TreeLimits.pathBytesMax ? Path(unchecked: all) : nil
  }

  /// Returns the same place, independent of the path of the operation.
  func absolute(in keys: [Key]) -> RulePlace {
    var place = self
    place.extra = Array(keys.prefix(level)) + extra
    place.possibleCount += level
    place.level = 0
    return place
  }

  /// The place as text.
  func text(in keys: [Key]) -> String {
    "/" + (keys.prefix(level) + extra).map(\.text).joined(separator: "/")
  }
}
