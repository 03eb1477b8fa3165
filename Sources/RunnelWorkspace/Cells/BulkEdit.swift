import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The change of one field of all marked records, as one step of undo.
enum BulkEdit {
  /// The greatest number of records that are changed at once.
  static let recordsMax = 10_000
  /// The greatest number of writes that an origin is sent for them: it answers each by itself.
  private static let writesMax = 500

  /// Opens a form for the new value of a field of the marked records.
  static func open(_ state: inout AppState, field: Path) {
    guard let view = state.tabs.front.view else { return }
    let marked = state.tabs.lists[view].markedRecords
    guard !marked.isEmpty else {
      return state.say(.info, "the marked rows are not shown: clear the filter first")
    }
    if marked.count > recordsMax {
      return state.say(.warning, "at most \(recordsMax) records are changed at once")
    }
    if let reason = reasonNotEdited(state, field, of: marked[0].path) {
      return state.say(.warning, reason)
    }
    let values = marked.map { state.database.coding.shown($0.row.node?[field] ?? .empty) }
    let input = input(state, field, of: marked, values)
    let name = field.isRoot ? "value" : field.text
    let edited = MarkedField(field, of: marked, in: state.tabs.lists[view])
    var form = FormScreen(
      purpose: .editField(edited), title: title(edited, marked.count),
      fields: [FormScreen.Field(name, path: field, input)])
    form.note = note(state, edited, values)
    FormScreen.open(&state, form)
    ResourceCommands.readChoices(&state)
  }

  /// The reason why no record of the list can get another value there, or nil if they can.
  private static func reasonNotEdited(_ state: AppState, _ field: Path, of record: Path) -> String?
  {
    do throws(Refusal) {
      _ = try state.database.resources.setting(
        true, at: Path(unchecked: record.keys + field.keys))
      return nil
    } catch {
      return error.message
    }
  }

  /// Returns the input for the value of all records, with the rule of their resource if there is one.
  private static func input(
    _ state: AppState, _ field: Path, of records: [Record], _ values: [JSONValue]
  ) -> FieldInput {
    let isAlike = Set(values.map { $0.jsonText() }).count == 1
    let resources = state.database.resources
    if let known = resources.rule(at: Path(unchecked: records[0].path.keys + field.keys)) {
      var input = resources.input(
        of: known.rule, in: known.definition, value: isAlike ? values[0] : .null)
      input.hold(values)
      return input
    }
    let present = values.filter { $0 != .null && $0 != .string("") }
    let example = state.tabs.frontList?.example(of: field)?.json
    let held = present.isEmpty ? [example].compactMap(\.self) : present
    let kind = FieldKind(held.first ?? .string(""))
    var input = FieldInput(kind: kind, text: isAlike ? FieldKind.text(of: values[0]) : "")
    input.hold(held)
    return input
  }

  private static func title(_ edited: MarkedField, _ count: Int) -> String {
    let name = edited.field.isRoot ? "value" : edited.field.text
    return "Set \(name) of \(count == 1 ? "1 marked record" : "\(count) marked records")"
  }

  /// Shows in an open form what others wrote meanwhile.
  ///
  /// O(marked records) if such a form is open.
  static func refresh(_ state: inout AppState) {
    guard let list = state.tabs.frontList else { return }
    for (index, layer) in state.layers.enumerated() {
      guard case .form(var form) = layer, case .editField(var edited) = form.purpose else {
        continue
      }
      edited.leaveGone(from: list)
      form.purpose = .editField(edited)
      state.layers[index] = .form(form)
      let records = list.records
      let present = edited.paths.compactMap { records[Record.id(of: $0)] }
      if present.isEmpty { continue }
      form.title = title(edited, edited.targets.count)
      form.note = note(
        state, edited,
        present.map { state.database.coding.shown($0.row.node?[edited.field] ?? .empty) })
      state.layers[index] = .form(form)
    }
  }

  /// The present values in words, and how many marked records are left out.
  ///
  /// Those whose rows were unloaded since the form was opened are not left out.
  private static func note(
    _ state: AppState, _ edited: MarkedField, _ values: [JSONValue]
  ) -> String {
    guard let list = state.tabs.frontList else { return "" }
    let told = (edited.paths + edited.changed).map { Record.id(of: $0) }
    let hidden = list.marks.subtracting(told).count
    if hidden == 0 { return note(values) }
    let rows =
      hidden == 1
      ? "1 marked row that is not shown stays" : "\(hidden) marked rows that are not shown stay"
    return "\(note(values)) · \(rows)"
  }

  /// Whether the user has set the value of a form, be it to an empty text.
  static func isSet(_ form: FormScreen) -> Bool {
    form.isTouched || form.fields[0].input.isChanged
  }

  /// Returns what a form would store, null for an emptied field that a resource does not require; nil for
  /// nothing.
  static func value(
    of form: FormScreen, _ typed: [(path: Path, value: JSONValue)]?, _ coding: ValueCoding
  ) -> JSONValue? {
    if let value = typed?.first?.value { return coding.stored(value) }
    return typed != nil && isSet(form) && form.fields[0].input.takesEmptyText ? .null : nil
  }

  /// Requests the writes of a form; returns false if the form is not right.
  ///
  /// Records that others changed or removed since the form was opened are left as they are.
  static func submit(
    _ state: inout AppState, _ form: inout FormScreen, _ edited: MarkedField
  ) -> Bool {
    guard let view = state.tabs.front.view else { return false }
    let field = edited.field
    let values = state.tabs.lists[view].markedRecords.map {
      state.database.coding.shown($0.row.node?[field] ?? .empty)
    }
    if !isSet(form), Set(values.map { $0.jsonText() }).count > 1 {
      let empty =
        form.fields[0].input.takesEmptyText
        ? KeyText.formKeys(state).hint(.inputKillToStart, "makes it empty", after: "; ") : ""
      return form.refuse(
        0, "type the value that all of them get, or \(FormScreen.cancelKeys(state))\(empty)")
    }
    guard let value = value(of: form, form.values(), state.database.coding) else {
      return form.refuse(0, "type a value, or \(FormScreen.cancelKeys(state))")
    }
    let writing = edited.writing(value, in: state)
    let left = Set(writing.changed.map { Record.id(of: $0) })
    if writing.targets.isEmpty {
      if writing.leftCount == 0 {
        let count = edited.targets.count
        let have = count == 1 ? "has" : "have"
        state.say(.info, "nothing to change: \(words(count)) \(have) this value already")
      } else {
        state.say(.warning, "nothing was changed\(writing.wordsOnLeft)")
      }
      return true
    }
    let requests: [WriteRequest]
    do throws(Refusal) {
      requests = try BulkEdit.requests(
        state.database.resources, writing.paths.map { ($0, value) }, field: field,
        keeping: writing.conditions, atOnce: recordsAtOnce(state, writing.paths.count))
    } catch {
      form.take(error)
      return false
    }
    form.attempt = form.attempt ?? state.requests.newID()
    var written = form
    written.purpose = .editField(writing)
    UndoHistory.joining(words(on: writing), &state) { state in
      for request in requests { state.submit(.form(written), request) }
    }
    if state.database.origin != nil {
      SentField.note(&state, SentField(field, of: writing.paths, inView: view))
    }
    // An open range would come back with its first row, wherever the cursor is then.
    state.tabs.lists[view].rangeStart = nil
    state.tabs.lists[view].marks.subtract(edited.paths.map { Record.id(of: $0) })
    state.tabs.lists[view].marks.formUnion(left)
    return true
  }

  /// Leaves out all records that a refused write names as changed by others, marks the rest again, and shows one
  /// form for it, also if several writes were refused.
  static func giveBack(
    _ state: inout AppState, _ form: FormScreen, _ edited: MarkedField, _ refusal: Refusal
  ) {
    var (form, edited, refusal) = (form, edited, refusal)
    let open = givenBack(state, form)
    if let open, case .form(let other) = state.layers[open],
      case .editField(let present) = other.purpose
    {
      (form, edited) = (other, present)
    }
    let named = edited.leave(namedBy: refusal)
    if !named.isEmpty {
      let others =
        edited.targets.isEmpty ? "" : KeyText.formKeys(state).hint(.formSave, "sets the rest")
      refusal.message =
        "others changed \(MarkedField.names(edited.changed)) meanwhile: left out\(others)"
      state.say(.error, refusal.message)
    }
    form.purpose = .editField(edited)
    form.title = title(edited, edited.targets.count)
    guard let open else { return Writing.reopen(&state, form, refusal) }
    form.take(refusal)
    state.layers[open] = .form(form)
  }

  /// The layer of the form that was given back because a write of it was refused; nil if there is none.
  static func givenBack(_ state: AppState, _ form: FormScreen) -> Int? {
    state.layers.firstIndex { layer in
      guard case .form(let other) = layer, case .editField = other.purpose else { return false }
      return other.attempt != nil && other.attempt == form.attempt
    }
  }

  /// Marks the records again whose field could not be set.
  static func markAgain(_ state: inout AppState, _ edited: MarkedField) {
    guard let view = state.tabs.front.view, let list = state.tabs.frontList else { return }
    let rows = edited.paths.map { Record.id(of: $0) }
    // Records that are not loaded or that a filter hides are marked, too.
    let isWhole = list.isComplete && list.filtering.filter == nil
    state.tabs.lists[view].marks.formUnion(isWhole ? rows.filter(list.isMarkable) : rows)
  }

  /// The number of records that one write sets.
  ///
  /// An origin refuses a write as a whole, so that each record is one, as long as they are not too many. Services
  /// answer for each record of a write.
  private static func recordsAtOnce(_ state: AppState, _ count: Int) -> Int {
    guard let origin = state.database.origin, !origin.hasServices else { return .max }
    return max(1, (count + writesMax - 1) / writesMax)
  }

  /// Returns the writes of values to a field of records: one for so many records at once that no resource
  /// describes, an operation for each of the others; each under the conditions of its records.
  static func requests(
    _ book: ResourceBook, _ values: [(record: Path, value: JSONValue)], field: Path,
    keeping conditions: [Path: [WriteCondition]] = [:], atOnce countMax: Int = .max
  ) throws(Refusal) -> [WriteRequest] {
    var requests: [WriteRequest] = []
    var updates: [WriteRequest] = []
    var members: [JSONMember] = []
    var shared: [WriteCondition] = []
    guard let parent = values.first?.record.parent else { return [] }
    let guarded = { (request: WriteRequest, kept: [WriteCondition]) in
      kept.isEmpty ? request : .guarded(request, kept)
    }
    for (path, value) in values {
      let place = Path(unchecked: path.keys + field.keys)
      let request =
        value == .null ? try book.removing(place) : try book.setting(value, at: place)
      let kept = conditions[path] ?? []
      if case .set = request, path.parent == parent, let relative = place.relative(to: parent) {
        if countMax == 1 {
          updates.append(guarded(request, kept))
          continue
        }
        members.append(JSONMember(relative.text, value))
        shared += kept
        if members.count == countMax {
          updates.append(guarded(.update(parent, members), shared))
          (members, shared) = ([], [])
        }
      } else {
        requests.append(guarded(request, kept))
      }
    }
    if !members.isEmpty { updates.append(guarded(.update(parent, members), shared)) }
    return updates + requests
  }

  /// What the write of a form does.
  static func words(on edited: MarkedField) -> String {
    "set \(edited.field.isRoot ? "value" : edited.field.text) of \(words(edited.targets.count))"
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
