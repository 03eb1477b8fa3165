import RunnelStreams
import RunnelTree

/// Completions of the last word of a filter: fields, states, or values that are in the list.
struct FilterCompletion {
  /// The greatest number of rows searched for values, and the greatest number of values offered.
  private static let rowsMax = 2000
  private static let candidatesMax = 20
  /// The greatest number of levels of a record whose fields are offered, and of fields of an object below
  /// the record: one with more holds records rather than fields.
  private static let levelsMax = 4
  private static let fieldsBelowMax = 30

  /// The completions in order.
  let candidates: [String]
  /// The number of characters of the word that a completion replaces.
  let wordLength: Int

  /// Finds the completions of the word at the end of a text.
  init(before text: String, in list: ListScreen) {
    var word = FilterCompletion.lastWord(of: text)
    if word.hasPrefix("-") { word = word.dropFirst() }
    guard let mark = FilterCompletion.lastMark(in: word) else {
      wordLength = word.count
      let start = word.hasPrefix("\"") ? word.dropFirst() : word
      candidates = FilterCompletion.fields(of: list).filter { $0.name.hasPrefix(start) }
        .map(\.text)
      return
    }
    let typed = word[word.index(after: mark)...]
    let field =
      word.hasPrefix("\"")
      ? word.dropFirst().prefix { $0 != "\"" }
      : word.prefix { !FilterCompletion.marks.contains($0) }
    wordLength = typed.count
    let values = FilterCompletion.values(of: String(field), in: list)
    candidates = values.filter { $0.lowercased().hasPrefix(typed.lowercased()) }
      .prefix(FilterCompletion.candidatesMax).map(FilterCompletion.quoted)
  }

  /// The text that all completions begin with, or the only completion; nil if it adds nothing.
  var commonText: String? {
    guard let first = candidates.first else { return nil }
    let common = candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
    return common.count > wordLength || candidates.count == 1 ? common : nil
  }

  private static let marks = Set(":~<>=|")

  /// The part of a text after its last blank that is not in quotes.
  private static func lastWord(of text: String) -> Substring {
    var (start, isQuoted) = (text.startIndex, false)
    for index in text.indices {
      if text[index] == "\"" { isQuoted.toggle() }
      if text[index].isWhitespace, !isQuoted { start = text.index(after: index) }
    }
    return text[start...]
  }

  /// The last sign between a field and a value that is not in quotes; nil if there is none.
  private static func lastMark(in word: Substring) -> Substring.Index? {
    var (mark, isQuoted) = (Substring.Index?.none, false)
    for index in word.indices {
      if word[index] == "\"" { isQuoted.toggle() }
      if marks.contains(word[index]), !isQuoted { mark = index }
    }
    return mark
  }

  /// The name of a field as a filter has it: in quotes if it would be read as something else.
  static func quotedName(_ name: String) -> String {
    let isPlain = name.allSatisfy { !$0.isWhitespace && $0 != "\"" && !marks.contains($0) }
    return isPlain && !name.hasPrefix("-") && !["is", "has"].contains(name)
      ? name : quotedText(name)
  }

  private static func fields(of list: ListScreen) -> [(name: String, text: String)] {
    var names: Set<String> = []
    for column in list.definition.columns { names.insert(name(of: column.field)) }
    for record in list.someRecords(rowsMax) {
      noteFields(of: record.row.node ?? .empty, below: "", levelsMax, in: &names)
    }
    return names.sorted().map { ($0, quotedName($0) + ":") } + [("is", "is:"), ("has", "has:")]
  }

  /// Notes the paths of the values in a node, down to a number of levels.
  private static func noteFields(
    of node: RunnelTree.Node, below start: String, _ levels: Int, in names: inout Set<String>
  ) {
    for child in node.children {
      let name = start + child.key.text
      if child.node.leaf != nil {
        names.insert(name)
      } else if levels > 1, child.node.children.count <= fieldsBelowMax {
        noteFields(of: child.node, below: name + "/", levels - 1, in: &names)
      }
    }
  }

  private static func name(of field: FieldPath) -> String {
    switch field {
    case .key: "$key"
    case .value: "$value"
    case .path(let path): String(path.description.dropFirst())
    }
  }

  private static func values(of field: String, in list: ListScreen) -> [String] {
    if field == "is" { return ["new", "marked", "mine"] + flags(in: list) }
    if field == "has" { return fields(of: list).dropLast(2).map(\.name) }
    // A name that is no field has no values to offer.
    guard let path = try? FieldPath(field) else { return [] }
    var counts: [String: Int] = [:]
    for record in list.someRecords(rowsMax) {
      let node = path.node(key: record.row.key, record.row.node ?? .empty)
      guard let leaf = node.leaf else { continue }
      counts[FieldKind.text(of: leaf.json), default: 0] += 1
    }
    // The most frequent values come first.
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }

  private static func flags(in list: ListScreen) -> [String] {
    var names: Set<String> = []
    for record in list.someRecords(rowsMax) {
      for child in record.row.node?.children ?? [] {
        if case .bool? = child.node.leaf { names.insert(child.key.text) }
      }
    }
    return names.sorted()
  }

  static func quoted(_ value: String) -> String {
    let isPlain = value.allSatisfy { !$0.isWhitespace && $0 != "|" && $0 != "\"" && $0 != "\\" }
    return isPlain && !value.isEmpty ? value : quotedText(value)
  }

  private static func quotedText(_ value: String) -> String {
    var text = "\""
    for character in value {
      if character == "\"" || character == "\\" { text.append("\\") }
      text.append(character)
    }
    return text + "\""
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
