import RunnelBase
import RunnelTree

@testable import RunnelWorkspace

/// A random file of JSON that is read, changed in the tree, and written back, twice.
struct JSONFileTrial {
  private var random: SeededRandom
  private(set) var text = ""
  private(set) var tree = Node.empty
  private var keys: RowKeys? = .asRead
  /// What was done, for the message of a failure.
  private(set) var log: [String] = []

  /// Makes a file; nil if it has two names for one key, which are refused.
  init?(seed: UInt64) {
    random = SeededRandom(seed: seed)
    text = blanks() + value(depth: 0) + blanks()
    guard let json = try? JSONValue(parsing: text), NameClash(in: json) == nil else { return nil }
    tree = JSONFileTrial.stored(json)
    log = ["file \(text)"]
  }

  /// Begins with a text that is given.
  init(_ text: String) {
    random = SeededRandom(seed: 1)
    self.text = text
    tree = JSONFileTrial.stored((try? JSONValue(parsing: text)) ?? .null)
  }

  static func stored(_ json: JSONValue) -> Node {
    (try? Node(json: WritableKey.value(json, keepsServerValues: false) { _ in })) ?? .empty
  }

  /// Changes the tree at random, writes it over the file, and returns what is wrong, or nil.
  mutating func turn() -> String? {
    var new = tree
    for _ in 0..<number(0...4) { edit(&new) }
    return take(new)
  }

  /// Writes another tree over the file; returns what is wrong, or nil.
  mutating func take(_ new: Node) -> String? {
    var shape = WrittenShape(ofBeginning: text, as: .json)
    shape.hasNames = true
    shape.values = WrittenValues(of: text, as: .json, ofRowsAt: .root)
    shape.values.take(keys)
    var writer = ExportWriter(.json, columns: [], shape: shape)
    var bytes = writer.begin()
    writer.take(whole: new)
    let ending = writer.ending()
    bytes += ending.bytes
    let written = String(decoding: bytes, as: UTF8.self)
    log.append("wrote \(written)")
    guard let json = try? JSONValue(parsing: written) else { return "no JSON" }
    if new == tree, written != text { return "changed without an edit" }
    let old = JSONFileTrial.parts(of: text, tree, keys)
    let now = JSONFileTrial.parts(of: written, new, ending.keys)
    for (path, part) in old where tree[path] == new[path] {
      guard JSONFileTrial.isHeld(path, new), let there = now[path], there != part else {
        if JSONFileTrial.isHeld(path, new), now[path] == nil { return "\(path) is gone: \(part)" }
        continue
      }
      return "\(path) was \(part) and is \(there)"
    }
    if let wrong = JSONFileTrial.difference(json, new, isRoot: true) { return wrong }
    (text, tree, keys) = (written, new, ending.keys)
    return nil
  }

  /// Whether all that is around a place is there, so that its value in the file stays if it is null.
  private static func isHeld(_ path: Path, _ tree: Node) -> Bool {
    if path.isRoot { return true }
    var around = path.parent
    while let place = around, !place.isRoot {
      if tree[place].leaf != nil || tree[place].isEmpty { return false }
      around = place.parent
    }
    return tree.leaf == nil
  }

  // MARK: Comparing

  /// The texts of the values in a document by their places in the tree.
  private static func parts(of text: String, _ tree: Node, _ keys: RowKeys?) -> [Path: String] {
    var parts: [Path: String] = [:]
    var text = text
    text.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      note(&scanner, bytes, at: .root, tree, keys, in: &parts)
    }
    return parts
  }

  private static func note(
    _ scanner: inout JSONScanner, _ bytes: UnsafeBufferPointer<UInt8>, at path: Path?,
    _ tree: Node, _ keys: RowKeys?, in parts: inout [Path: String]
  ) {
    guard let kind = try? scanner.peekKind() else { return }
    let start = scanner.offset
    var copy = scanner
    guard (try? copy.skipValue()) != nil else { return }
    if let path {
      parts[path] = String(decoding: bytes[start..<copy.offset], as: UTF8.self)
      for known in parts.keys where known != path && known.keys.starts(with: path.keys) {
        parts[known] = nil
      }
    }
    switch kind {
    case .object:
      try? scanner.enterObject()
      while let name = try? scanner.nextMember() {
        let key = WritableKey.key(of: name)
        note(
          &scanner, bytes, at: path.map { Path(unchecked: $0.keys + [key]) }, tree, nil, in: &parts)
      }
    case .array:
      var count = 0
      var counter = scanner
      try? counter.enterArray()
      while (try? counter.nextElement()) == true {
        try? counter.skipValue()
        count += 1
      }
      let pushed = path.map { tree[$0].children.map(\.key).filter { $0.integer == nil } } ?? []
      try? scanner.enterArray()
      for index in 0..<count {
        _ = try? scanner.nextElement()
        let first = count - pushed.count
        let key: Key? =
          if let keys, path?.isRoot == true {
            keys.key(at: index)
          } else {
            index >= first ? pushed[index - first] : Key(unchecked: String(index))
          }
        let below = key.flatMap { key in path.map { Path(unchecked: $0.keys + [key]) } }
        note(&scanner, bytes, at: below, tree, nil, in: &parts)
      }
      _ = try? scanner.nextElement()
    default: try? scanner.skipValue()
    }
  }

  /// What is in a document otherwise than in the tree; nil for nothing.
  private static func difference(_ json: JSONValue, _ tree: Node, isRoot: Bool) -> String? {
    switch json {
    case .array(let elements):
      let keys = tree.children.map(\.key)
      if isRoot {
        let there = elements.filter { !stored($0).isEmpty }
        if there.count != keys.count { return "\(there.count) rows, not \(keys.count)" }
        return zip(there, keys).lazy.compactMap { difference($0, tree[$1], isRoot: false) }.first
      }
      let pushed = keys.filter { $0.integer == nil }
      let first = elements.count - pushed.count
      if keys.contains(where: { Int($0.integer ?? 0) >= first && $0.integer != nil }) {
        return "\(json.jsonText()) has not all of \(tree)"
      }
      for (index, element) in elements.enumerated() {
        let key = index >= first ? pushed[index - first] : Key(unchecked: String(index))
        if let wrong = difference(element, tree[key], isRoot: false) { return wrong }
      }
      return nil
    case .object(let members) where !tree.children.isEmpty:
      var seen: Set<Key> = []
      for member in members {
        let key = WritableKey.key(of: member.name)
        seen.insert(key)
        if let wrong = difference(member.value, tree[key], isRoot: false) { return wrong }
      }
      let missing = tree.children.first { !seen.contains($0.key) }
      return missing.map { "\($0.key) is missing in \(json.jsonText())" }
    default: return stored(json) == tree ? nil : "\(json.jsonText()) is not \(tree)"
    }
  }

  // MARK: Editing

  private mutating func edit(_ tree: inout Node) {
    let isList = (try? JSONValue(parsing: text))?.array != nil
    var place = Path.root
    while !tree[place].children.isEmpty, place.isRoot || number(0...3) > 0 {
      place = Path(unchecked: place.keys + [pick(tree[place].children).key])
    }
    // All rows of a list may go, but the list itself stays one.
    if place.isRoot, isList { place = Path(unchecked: [Key(unchecked: "0")]) }
    let next = Path(unchecked: place.keys + [Key(unchecked: pick(["0", "1", "5", "new", "b"]))])
    let pushed = Path(unchecked: place.keys + [pushKey()])
    let (path, json): (Path, String) =
      switch number(0...6) {
      case 0, 1: (place, pick(["5", "\"s\"", "true", "-0.5"]))
      case 2: (place, "null")
      case 3: (next, value(depth: 3))
      case 4: (place, value(depth: 2))
      default: (pushed, "{\"id\":3}")
      }
    guard let new = try? JSONValue(parsing: json), NameClash(in: new) == nil else { return }
    log.append("set \(path) \(json)")
    tree = tree.replacing(path, with: JSONFileTrial.stored(new))
  }

  private mutating func pushKey() -> Key {
    let signs = Array("0123456789ABCDEFabcdef_-")
    return Key(unchecked: "-O" + String((0..<18).map { _ in pick(signs) }))
  }

  // MARK: Making

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[number(0...(elements.count - 1))]
  }

  private mutating func blanks() -> String { pick(["", "", "", " ", "\n  ", "\t"]) }

  private mutating func value(depth: Int) -> String {
    switch number(0...(depth < 4 ? 9 : 5)) {
    case 0: return pick(["null", "[]", "{}", "[ ]", "{\n}", "[null]", "{\"n\":null}"])
    case 1: return pick(["12345678901234567890.125", "1.50", "1e2", "-0.0", "9007199254740993"])
    case 2: return pick(["\"s\"", "\"\\u00e9\"", "\"e\u{301}\"", "\"a\\/b\"", "true", "false"])
    case 3, 4, 5: return String(number(0...9))
    case 6, 7:
      let elements = (0..<number(0...4)).map { _ in
        blanks() + value(depth: depth + 1) + blanks()
      }
      return "[" + elements.joined(separator: ",") + "]"
    default:
      let members = (0..<number(0...4)).map { _ in
        blanks() + name() + blanks() + ":" + blanks() + value(depth: depth + 1) + blanks()
      }
      return "{" + members.joined(separator: ",") + "}"
    }
  }

  private mutating func name() -> String {
    pick([
      "\"a\"", "\"b\"", "\"c\"", "\"\\u0061\"", "\"k.\"", "\"k%2E\"", "\"c$\"", "\"\"", "\"%\"",
      "\"\u{e9}\"", "\"e\u{301}\"", "\"0\"", "\"1\"", "\"07\"", "\"x y\"",
    ])
  }
}
