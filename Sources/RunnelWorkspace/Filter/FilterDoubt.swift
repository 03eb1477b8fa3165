import RunnelBase
package import RunnelStreams
import RunnelTree

/// The reason why a filter finds nothing among the rows that are loaded, where its words may be wrong: a
/// field that no row has, or a value that the field never holds.
///
/// A filter that asks for such a thing is no error: a row that is not loaded may have it.
package struct FilterDoubt {
  /// The most rows that are looked at.
  private static let rowsMax = 2000
  /// The most rows of a list of which all are looked at, also those that a filter hides.
  static let certainMax = 1000

  /// What to say to the user, in one line.
  package let message: String
  /// The range of the term in the text of the filter, in characters.
  let range: Range<Int>
  /// Whether the term can fit no row as the rows are; otherwise it may only be meant in another way.
  let isMistake: Bool
  /// Whether the term compares some rows only: others have texts where it has a number or a date.
  var comparesSomeRows = false

  /// Looks at the rows of a list, which are loaded.
  init?(_ filter: Filter, in list: ListScreen) {
    let rows = list.someRecords(FilterDoubt.rowsMax).filter { !list.isTransient($0) }
    // Rows that a filter has hidden since they were read are not remembered.
    self.init(
      filter, in: list.definition, rows, isComplete: list.isComplete,
      areAll: rows.count >= list.reach.loadedCount)
  }

  /// Looks at the terms of a filter one by one; nil if each may be meant as it is.
  ///
  /// `isComplete` tells whether all rows are loaded, and `areAll` whether these are all loaded rows.
  /// O(terms x rows).
  package init?(
    _ filter: Filter, in definition: ViewDefinition, _ rows: [Record], isComplete: Bool,
    areAll: Bool = true
  ) {
    if rows.isEmpty { return nil }
    let seen = Seen(definition: definition, rows: rows, isComplete: isComplete, areAll: areAll)
    if let (message, range) = FilterDoubt.alternatives(in: filter) {
      (self.message, self.range, isMistake) = (message, range, false)
      return
    }
    for term in filter.terms {
      if let message = FilterDoubt.message(term.test, seen) {
        (self.message, range, isMistake) = (message, term.range, true)
        return
      }
      if let (message, isMistake) = FilterDoubt.uncompared(term.test, seen) {
        (self.message, range, self.isMistake) = (message, term.range, isMistake)
        comparesSomeRows = !isMistake
        return
      }
      if !term.isNegated, let message = FilterDoubt.otherMeaning(term.test, seen) {
        (self.message, range, isMistake) = (message, term.range, false)
        return
      }
    }
    return nil
  }

  /// The rows that are looked at.
  private struct Seen {
    let definition: ViewDefinition
    let rows: [Record]
    let isComplete: Bool
    let areAll: Bool
  }

  private static func message(_ test: Filter.Test, _ seen: Seen) -> String? {
    let rows = seen.rows
    switch test {
    case .shows, .state(.new), .state(.marked): return nil
    case .isOne(_, let values) where values.contains { $0.text == "none" }: return nil
    case .isOne(let field, let values):
      if let message = missing(field, seen) { return message }
      let messages = values.map { impossible(field, $0, rows) }
      return messages.contains(nil) ? nil : messages.first ?? nil
    case .matches(let field, _), .has(let field): return missing(field, seen)
    case .state(.field(let path)): return missing(.path(path), seen)
    case .compares(let field, _, let value):
      return missing(field, seen) ?? impossible(field, value, rows)
    case .state(.mine):
      let hasOwner = seen.definition.template.contains { $0.value == .string("$me") }
      return hasOwner ? nil : "is:mine finds nothing: no field of new: in this view is $me"
    }
  }

  /// What to write in the place of the word `OR` between two terms, and its range; nil if there is none.
  private static func alternatives(in filter: Filter) -> (message: String, range: Range<Int>)? {
    let characters = Array(filter.text)
    for index in filter.terms.indices.dropFirst().dropLast() {
      let term = filter.terms[index]
      guard ["OR", "or", "||"].contains(String(characters[term.range])),
        case .isOne(.path(let left), let before) = filter.terms[index - 1].test,
        case .isOne(.path(let right), let after) = filter.terms[index + 1].test
      else { continue }
      let values = (before + after).map { FilterCompletion.quoted($0.text) }
      let name = FilterCompletion.quotedName(left.text)
      return left == right
        ? ("one or the other is written \(name):\(values.joined(separator: "|"))", term.range)
        : ("all terms must hold; one or the other works within a field: a:x|y", term.range)
    }
    return nil
  }

  /// What to write where no row has a text and some have it as a part of a longer one, or where quotes
  /// make several values one text.
  private static func otherMeaning(_ test: Filter.Test, _ seen: Seen) -> String? {
    guard case .isOne(let field, let values) = test, case .path(let path) = field,
      values.count == 1, let value = values.first?.text, !value.isEmpty
    else { return nil }
    let texts = seen.rows.compactMap { record -> String? in
      guard case .string(let text)? = node(field, in: record).leaf else { return nil }
      return text.lowercased()
    }
    let sought = value.lowercased()
    if value.contains("|"), !texts.contains(sought) {
      let parts = value.split(separator: "|").map { FilterCompletion.quoted(String($0)) }
      let name = FilterCompletion.quotedName(path.text)
      return "one or the other is written \(name):\(parts.joined(separator: "|"))"
    }
    guard !texts.contains(sought), texts.contains(where: { $0.contains(sought) }) else {
      return nil
    }
    return "no \(path.text) is just \(value): \(path.text)~\(value) finds it in longer texts"
  }

  private static func missing(_ field: FieldPath, _ seen: Seen) -> String? {
    guard case .path(let path) = field,
      seen.rows.allSatisfy({ node(field, in: $0).isEmpty })
    else { return nil }
    // A name of a table may hold the sign that separates the keys of a path.
    let key = WritableKey.key(of: path.text)
    if path.keys.count > 1, seen.rows.contains(where: { $0.row.node?[key].isEmpty == false }) {
      return "the field is written \(key.text) here"
    }
    let rows =
      !seen.areAll
      ? "none of \(seen.rows.count) rows looked at" : seen.isComplete ? "no row" : "no loaded row"
    let words = "\(rows) has a field \(path.shownText)"
    return words + (likeness(of: path, seen).map { ": did you mean \($0)?" } ?? "")
  }

  /// The field that was probably meant, as it is written in a filter; nil if none is like the one that is
  /// missing.
  private static func likeness(of path: Path, _ seen: Seen) -> String? {
    guard path.keys.count == 1, let name = path.keys.first?.text else { return nil }
    if let nested = nested(path, seen) { return nested }
    let fields = Set(
      seen.rows.flatMap { ($0.row.node ?? .empty).children.prefix(fieldsMax).map(\.key.text) })
    let sorted = fields.sorted()
    let found =
      sorted.first { $0.lowercased() == name.lowercased() }
      ?? Spelling.nearest(to: name, among: sorted)
      // Of a name with blanks that is not in quotes, the last word was read.
      ?? sorted.first { $0.lowercased().hasSuffix(" " + name.lowercased()) }
    return found.map { $0.contains(" ") ? "\"\($0)\":" : $0 }
  }

  /// The field below another one that was meant by a name with points, as programs write it: `fees/balance`
  /// for `fees.balance`; nil if no row has it.
  private static func nested(_ path: Path, _ seen: Seen) -> String? {
    let parts = path.shownText.split(separator: ".", omittingEmptySubsequences: false)
    let keys = parts.compactMap { try? Key(String($0)) }
    guard parts.count > 1, keys.count == parts.count else { return nil }
    let meant = Path(unchecked: keys)
    guard seen.rows.contains(where: { $0.row.node?[meant].isEmpty == false }) else { return nil }
    return FilterCompletion.quotedName(meant.text)
  }

  /// The most fields of a row that are looked at for a name like one that is missing.
  private static let fieldsMax = 100

  /// The reason why the field never holds a value: all that it holds are numbers, or all are true or
  /// false, and the value is neither; nil if it may.
  private static func impossible(
    _ field: FieldPath, _ value: FilterValue, _ rows: [Record]
  ) -> String? {
    guard case .path(let path) = field else { return nil }
    let leaves = rows.compactMap { node(field, in: $0).leaf }
    if leaves.isEmpty {
      let name = FilterCompletion.quotedName(path.shownText)
      let text = FilterCompletion.quoted(value.text)
      return "\(path.shownText) holds lists or objects: \(name)~\(text) finds it in them"
    }
    let areNumbers = leaves.allSatisfy { if case .number = $0 { true } else { false } }
    if areNumbers, value.number == nil, value.moments == nil {
      return "\(path.text) holds numbers, and \(value.text) is neither a number nor a time"
    }
    let areDates = leaves.allSatisfy { leaf in
      if case .string(let text) = leaf { DateText(text, value.local) != nil } else { false }
    }
    if areDates, value.moments == nil, value.number == nil, !DateText.isBeginning(value.text) {
      return "\(path.shownText) holds dates, and \(value.text) is neither a date nor a time"
    }
    let areBooleans = leaves.allSatisfy { if case .bool = $0 { true } else { false } }
    if areBooleans, !["true", "false"].contains(value.text.lowercased()) {
      return "\(path.text) is true or false, and \(value.text) is neither"
    }
    return nil
  }

  /// The number of texts that a comparison with a number or a date leaves out, and whether it leaves out
  /// all rows; nil if there are no such texts.
  private static func uncompared(
    _ test: Filter.Test, _ seen: Seen
  ) -> (message: String, isMistake: Bool)? {
    guard case .compares(let field, _, let value) = test, case .path(let path) = field,
      value.number != nil || value.moments != nil
    else { return nil }
    let leaves = seen.rows.compactMap { node(field, in: $0).leaf }
    let count = leaves.count { value.isLeavingOut($0) }
    if count == 0 { return nil }
    let what = value.words(leavingOutTextsIn: path)
    let isMistake = count == leaves.count
    if !seen.areAll {
      let part = isMistake ? "" : "some "
      return ("\(part)rows have texts \(what)", isMistake)
    }
    let row = seen.isComplete ? "row" : "loaded row"
    let texts = count == 1 ? "1 \(row) has a text" : "\(count) \(row)s have texts"
    return ("\(texts) \(what)", isMistake)
  }

  private static func node(_ field: FieldPath, in record: Record) -> RunnelTree.Node {
    field.node(key: record.row.key, record.row.node ?? .empty)
  }
}
