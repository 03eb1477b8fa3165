package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Copying to the clipboard: the value or record under the cursor, or the marked records.

/// The form in which a value is copied.
package enum CopyForm: Hashable, Sendable {
  /// Pretty JSON; several values become an array.
  case value
  /// JSON on one line; several values become one line each, as in all forms below.
  case line
  /// The text of a string.
  case string
  case key
  case path

  /// Whether the form needs only the place.
  var isOfPlace: Bool { self == .key || self == .path }

  /// Returns the word for a number of values in this form.
  fileprivate func words(_ count: Int) -> String {
    let word =
      switch self {
      case .value, .line: "value"
      case .string: "text"
      case .key: "key"
      case .path: "path"
      }
    return count == 1 ? word : "\(word)s"
  }
}

/// A value to copy, and its place.
package struct CopiedValue: Hashable, Sendable {
  package var path: Path
  package var json: JSONValue

  /// Returns the text of the value in a form, or nil if it has none.
  fileprivate func text(_ form: CopyForm) -> String? {
    switch (form, json) {
    case (.value, _): json.jsonText(pretty: true)
    case (.line, _): json.jsonText()
    case (.key, _): path.lastKey?.text
    case (.path, _): path.description
    case (.string, .string(let text)): text
    case (.string, .number), (.string, .bool): json.jsonText()
    case (.string, .null), (.string, .array), (.string, .object): nil
    }
  }
}

/// The purpose for which a value is read.
package enum ReadPurpose: Hashable, Sendable {
  /// To copy it: `after` holds the values read before, and `before` the places to read next.
  case copy(CopyForm, after: [CopiedValue], before: [Path])
  case editOutside
  case duplicate
  /// To compare it with a draft. If the user asked, `after` is nil. After a refusal, `after` is the
  /// value of `InputState.count`: the comparison opens only if the user has done nothing since.
  case compare(CompareDraft, after: Int?)
}

/// Copies values, records and their places to the clipboard.
enum Copying {
  /// The source of a copy: known values, or places to be read first.
  private enum CopySource {
    case values([CopiedValue])
    case unread([Path])
  }

  static func copy(_ state: inout AppState, _ form: CopyForm) {
    switch copySource(state, form) {
    case .values(let values): copy(&state, form, values)
    case .unread(let paths): read(&state, paths, after: [], toCopy: form)
    }
  }

  private static func copySource(_ state: AppState, _ form: CopyForm) -> CopySource {
    if case .queue? = state.layers.last { return .values(QueueScreen.written(state)) }
    if case .record(let screen)? = state.layers.last {
      let field = screen.reading?.field ?? screen.cursorField?.path ?? .root
      let path = Path(unchecked: screen.path.keys + field.keys)
      return .values([CopiedValue(path: path, json: screen.node?[field].exportJSON ?? .null)])
    }
    guard let screen = state.tabs.frontList else { return copySourceInTree(state, form) }
    let marked = screen.markedRecords
    let records = marked.isEmpty ? [screen.cursorRecord].compactMap(\.self) : marked
    return .values(records.map { $0.copied(form, mainField: screen.definition.mainField) })
  }

  /// Returns the source of a copy in the tree; nodes with children are read first, because the tree
  /// knows only their size.
  private static func copySourceInTree(_ state: AppState, _ form: CopyForm) -> CopySource {
    var nodes = state.tabs.tree.markedNodes
    if nodes.isEmpty, case .node(let path, let row, _)? = state.tabs.tree.cursorLine {
      nodes = [(path, row)]
    }
    let isWhole = form == .value || form == .line
    let unread = nodes.contains { node in
      if case .children = node.row.summary.kind { isWhole } else { false }
    }
    if unread { return .unread(nodes.map(\.path)) }
    return .values(
      nodes.map { node in
        let leaf =
          if case .leaf(let leaf) = node.row.summary.kind { leaf.json } else { JSONValue.null }
        return CopiedValue(path: node.path, json: leaf)
      })
  }

  /// Reads values one after another, and copies all of them after the last one.
  private static func read(
    _ state: inout AppState, _ paths: [Path], after values: [CopiedValue], toCopy form: CopyForm
  ) {
    guard let path = paths.first else { return copy(&state, form, values) }
    state.read(path, for: .copy(form, after: values, before: Array(paths.dropFirst())))
  }

  /// The reason why the value at hand cannot be copied in a form, or nil if it can or has to be
  /// read first.
  static func reasonHasNoForm(_ state: AppState, _ form: CopyForm) -> String? {
    if case .unread(let paths) = copySource(state, form) {
      return TreeListing.reasonNotWhole(state, paths)
    }
    guard case .values(let values) = copySource(state, form) else { return nil }
    return reasonNotCopied(state, form, values)
  }

  private static func reasonNotCopied(
    _ state: AppState, _ form: CopyForm, _ values: [CopiedValue]
  ) -> String? {
    let present = form.isOfPlace ? values : values.filter { $0.json != .null }
    guard let first = present.first else {
      return form == .string ? "there is no text here to copy" : "nothing stands there"
    }
    if present.allSatisfy({ $0.text(form) != nil }) { return nil }
    return form == .key
      ? "\(first.path) has no key"
      : state.phrase("\(first.path) is no text", .copyValue, "copies it as JSON")
  }

  /// Puts values into the clipboard.
  private static func copy(_ state: inout AppState, _ form: CopyForm, _ values: [CopiedValue]) {
    if let reason = reasonNotCopied(state, form, values) { return state.say(.info, reason) }
    let present =
      form.isOfPlace
      ? values
      : values.filter { $0.json != .null }
        .map { CopiedValue(path: $0.path, json: state.database.coding.shown($0.json)) }
    let texts = present.compactMap { $0.text(form) }
    let text =
      form == .value && texts.count > 1
      ? JSONValue.array(present.map(\.json)).jsonText(pretty: true)
      : texts.joined(separator: "\n")
    let owner = texts.count == 1 ? "\(present[0].path)" : "\(texts.count) records"
    state.effects.append(.copy(text, what: "\(form.words(texts.count)) of \(owner)"))
  }

  /// Says the outcome of copying, and by which way the text was sent.
  static func sayCopied(_ state: inout AppState, _ what: String, _ outcome: Clipboard.Outcome) {
    switch outcome {
    case .copied(let program, let byteCount):
      state.say(.info, "copied the \(what): \(bytes(byteCount)) by \(program)")
    case .sent(let byteCount):
      state.say(.info, "copied the \(what): \(bytes(byteCount)) through the terminal")
    case .failed(let reason): state.say(.error, "the \(what) was not copied: \(reason)")
    }
  }

  private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

  /// Takes a value that was read; null if there is none.
  static func finish(
    _ state: inout AppState, reading path: Path, for purpose: ReadPurpose, _ value: JSONValue
  ) {
    switch purpose {
    case .copy(let form, let values, let paths):
      read(&state, paths, after: values + [CopiedValue(path: path, json: value)], toCopy: form)
    case .editOutside: OutsideEdit.startEditing(&state, path, value)
    case .duplicate: RowCommands.addCopy(&state, of: path, value)
    case .compare(let draft, let count):
      if let count, !TypeAhead.isUntouched(state, since: count) {
        return CompareScreen.sayKeptDraft(&state, draft)
      }
      CompareScreen.startComparing(&state, draft, value)
    }
  }
}

extension ListScreen {
  /// The marked records in the order of the list, including those in folded sections; records
  /// hidden by a filter are left out.
  ///
  /// O(rows) if any is marked.
  var markedRecords: [Record] {
    if markCount == 0 { return [] }
    return content.sections.lazy.flatMap(\.rows)
      .filter { isMarked($0) && isMarkable($0) }
      .compactMap { records[$0] }
  }
}

extension Record {
  /// Returns the value that is copied of a record in a form: for a text, that of the main field.
  fileprivate func copied(_ form: CopyForm, mainField: Path?) -> CopiedValue {
    let node = row.node ?? .empty
    guard form == .string, let mainField, node.leaf == nil else {
      return CopiedValue(path: path, json: node.exportJSON)
    }
    return CopiedValue(
      path: Path(unchecked: path.keys + mainField.keys), json: node[mainField].json)
  }
}
