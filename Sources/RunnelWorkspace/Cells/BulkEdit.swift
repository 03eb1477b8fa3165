import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The change of one field of all marked records, as one step of undo.
enum BulkEdit {
  /// The greatest number of records that are changed at once.
  static let recordsMax = 10_000

  /// Opens a form for the new value of a field of the marked records.
  static func open(_ state: inout AppState, field: Path) {
    let marked = state.tabs.front.markedRecords
    guard !marked.isEmpty else {
      return state.say(.info, "the marked rows are not shown: clear the filter first")
    }
    if marked.count > recordsMax {
      return state.say(.warning, "at most \(recordsMax) records are changed at once")
    }
    let values = marked.map { $0.row.node?[field].json ?? .null }
    let isAlike = Set(values.map { $0.jsonText() }).count == 1
    let kind = FieldKind(values.first { $0 != .null } ?? .string(""))
    let input = FieldInput(kind: kind, text: isAlike ? FieldKind.text(of: values[0]) : "")
    let name = field.isRoot ? "value" : field.text
    let words = marked.count == 1 ? "1 marked record" : "\(marked.count) marked records"
    var form = FormScreen(
      purpose: .editField(field, of: marked.map(\.path)),
      title: "Set \(name) of \(words)", fields: [FormScreen.Field(name, path: field, input)])
    let hidden = state.tabs.front.markCount - marked.count
    form.note =
      note(values) + (hidden > 0 ? " · \(hidden) marked rows that are not shown stay" : "")
    FormScreen.open(&state, form)
  }

  /// Whether the user has set the value of a form, be it to an empty text.
  static func isSet(_ form: FormScreen) -> Bool {
    form.isTouched || form.fields[0].input.isChanged
  }

  /// Requests the writes of a form; returns false if the form is not right.
  static func submit(
    _ state: inout AppState, _ form: inout FormScreen, field: Path, of paths: [Path]
  ) -> Bool {
    let values = state.tabs.front.markedRecords.map { $0.row.node?[field].json ?? .null }
    if !isSet(form), Set(values.map { $0.jsonText() }).count > 1 {
      let empty =
        form.fields[0].input.kind == .string
        ? KeyText.formKeys(state).hint(.inputKillToStart, "makes it empty", after: "; ") : ""
      return form.refuse(
        0, "type the value that all of them get, or \(FormScreen.cancelKeys(state))\(empty)")
    }
    guard let value = form.values()?.first?.value else {
      return form.refuse(0, "type a value, or \(FormScreen.cancelKeys(state))")
    }
    let changing = changing(state, paths, field, to: value)
    if changing.isEmpty {
      let have = paths.count == 1 ? "has" : "have"
      state.say(.info, "nothing to change: \(words(paths.count)) \(have) this value already")
      return true
    }
    let requests: [WriteRequest]
    do throws(Refusal) {
      requests = try BulkEdit.requests(
        state.database.resources, changing.map { ($0, value) }, field: field)
    } catch {
      form.take(error)
      return false
    }
    form.attempt = form.attempt ?? state.requests.newID()
    var written = form
    written.purpose = .editField(field, of: changing)
    let title = "set \(written.fields[0].label) of \(words(changing.count))"
    UndoHistory.joining(title, &state) { state in
      for request in requests { state.submit(.form(written), request) }
    }
    state.tabs.front.marks.subtract(paths.map { Record.id(of: $0) })
    return true
  }

  /// Returns the writes of values to a field of records: one for all records that no resource
  /// describes, an operation for each of the others.
  static func requests(
    _ book: ResourceBook, _ values: [(record: Path, value: JSONValue)], field: Path
  ) throws(Refusal) -> [WriteRequest] {
    var requests: [WriteRequest] = []
    var members: [JSONMember] = []
    guard let parent = values.first?.record.parent else { return [] }
    for (path, value) in values {
      let place = Path(unchecked: path.keys + field.keys)
      let request = try book.setting(value, at: place)
      if case .set = request, path.parent == parent, let relative = place.relative(to: parent) {
        members.append(JSONMember(relative.text, value))
      } else {
        requests.append(request)
      }
    }
    return (members.isEmpty ? [] : [.update(parent, members)]) + requests
  }

  /// Returns those of the records whose field has another value; records that are not loaded are
  /// among them.
  ///
  /// O(records).
  static func changing(
    _ state: AppState, _ paths: [Path], _ field: Path, to value: JSONValue
  ) -> [Path] {
    guard !state.tabs.isTree else { return paths }
    let records = state.tabs.front.records
    return paths.filter { path in
      guard let node = records[Record.id(of: path)]?.row.node else { return true }
      return node[field].exportJSON != value
    }
  }

  static func words(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }

  /// The present values in words: the most frequent ones with their counts.
  private static func note(_ values: [JSONValue]) -> String {
    var counts: [String: Int] = [:]
    for value in values {
      counts[value == .null ? "none" : FieldKind.text(of: value), default: 0] += 1
    }
    let ranked = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let named = ranked.prefix(4).map { "\($0.key.prefix(20)) (\($0.value))" }
    let rest = ranked.count - named.count
    let others = rest == 1 ? "1 other value" : "\(rest) other values"
    return "now: " + named.joined(separator: ", ") + (rest > 0 ? " and \(others)" : "")
  }
}
