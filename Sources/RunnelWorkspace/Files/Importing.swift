import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Imports of records from a file or a paste into the collection of a view.

/// The progress of an import.
package struct ImportProgress: Hashable, Sendable {
  /// The number of records that are written at once.
  static let batchCount = 2000
  /// The most records that are written one by one to a server's database: their writes and those of the undo
  /// have room in the history.
  static let singlesMax = 400

  package let plan: ImportPlan
  /// The name of the file, or nil for a paste.
  package let file: String?
  package let view: Int
  /// The index of the row that is written next.
  package var next = 0
  /// The number of writes without an answer yet.
  package var waiting = 0
  var doneCount = 0
  package var refused: [ImportPlan.Refused]
  package var isStopped = false
  /// The texts that it puts into columns of numbers; nil if it was not looked for them.
  var texts: ImportedTexts?
  /// The first write of the import's step of undo, or nil before there is one.
  var step: AppRequestID?

  init(_ plan: ImportPlan, file: String?, view: Int) {
    (self.plan, self.file, self.view) = (plan, file, view)
    refused = plan.refused
  }

  /// How an import that is left goes on, and how it is taken back.
  func waysOn(_ state: AppState) -> [String] {
    let hasKeys = plan.rows.allSatisfy { $0.key != nil }
    let name = file ?? "the text"
    var ways = [
      hasKeys
        ? "To go on, import \(name) again: its records have keys, so none is stored twice."
        : "To go on, import what comes in \(name) after record \(next): the whole would be stored twice."
    ]
    let keys = KeyText.listKeys(state)
    if let stop = keys.keys(.jobCancel), let undo = keys.keys(.editUndo) {
      ways.append("To take it back, stay: \(stop) stops it, then \(undo) undoes all of it.")
    }
    return ways
  }
}

/// A record of a paste that was refused.
package struct PastedRecord: Hashable, Sendable {
  /// The id in the queue.
  package let id: AppRequestID
  package let view: Int
  /// The collection that the record was to be added to.
  package let collection: Path
  /// The record, or nil if the text is none.
  package let row: ImportPlan.Row?
  package let refused: ImportPlan.Refused

  /// The write in words.
  package var title: String { "\(refused.place) of a paste into \(collection)" }
}

/// The reading of a file for an import.
package struct ImportReading: Hashable, Sendable {
  /// The time in milliseconds before a read that goes on is mentioned.
  package static let quietMilliseconds: Int64 = 200

  /// The form that names the file, which is shown again if the file cannot be read.
  package var form: FormScreen
  /// Milliseconds since 1970.
  var startedAt: Int64
  /// The value of `InputState.count` when the read began.
  var inputCount = 0
}

/// The content of a file, or the error of the read.
package enum FileContent: Hashable, Sendable {
  /// The text of the file.
  case text(String)
  /// The records in the file, and its text.
  case records(ImportPlan, text: String)
  case failed(String)
}

/// Adds records from files and pastes to the collection of a view.
enum Importing {
  /// Opens a form that asks for the file to import into the view.
  static func openImport(_ state: inout AppState, _ file: String = "") {
    guard canImport(&state), let view = state.tabs.front.view else { return }
    let path = state.tabs.lists[view].definition.source.path
    let form = FormScreen(
      purpose: .importFile(view: view), title: "Import into \(path)",
      fields: [FormScreen.Field("file", kind: .string, text: file)],
      note: "JSON, JSON lines or CSV, \(ImportPlan.bytesMax >> 20) MB at most; "
        + "`runnel import` takes larger files of JSON")
    // A file that the user has just named comes before a draft.
    if file.isEmpty { FormScreen.open(&state, form) } else { state.layers.append(.form(form)) }
  }

  /// The reason why nothing is imported now, or nil if something can be.
  static func reasonNotImported(_ state: AppState) -> String? {
    state.reasonReadOnly
      ?? (state.files.importing == nil && state.files.reading == nil
        ? nil : SharedCommands.reasonUnderWay("an import is under way"))
  }

  /// Whether something can be imported here; if not, says the reason.
  private static func canImport(_ state: inout AppState) -> Bool {
    guard let reason = SharedCommands.importing.disabledReason(state) else { return true }
    state.say(reason == state.reasonReadOnly ? .warning : .info, reason)
    return false
  }

  /// Reads the file that a form names; returns false if it names none.
  static func readImport(_ state: inout AppState, _ form: inout FormScreen) -> Bool {
    let file = form.fields[0].input.editor.text
    if file.isEmpty { return form.refuse(0, "name a file with JSON, JSON lines or CSV") }
    guard case .importFile(let view) = form.purpose else { return false }
    state.files.reading = ImportReading(
      form: form, startedAt: state.now, inputCount: state.input.count)
    state.effects.append(
      .readFile(
        file, texts: textFields(state, ofView: view), nested: nestedFields(state, ofView: view)))
    return true
  }

  /// Shows how much of the file has been read.
  static func tellReading(_ state: inout AppState, _ count: Int, of size: Int) {
    guard let reading = state.files.reading,
      state.now - reading.startedAt >= ImportReading.quietMilliseconds
    else { return }
    let percent = size == 0 ? 100 : count * 100 / size
    state.say(
      .info, (percent < 100 ? "reading: \(percent)%" : "looking for records") + stopHint(state))
  }

  /// A hint with the keys that stop what is under way, for the end of a sentence.
  static func stopHint(_ state: AppState) -> String {
    state.settings.keymap.firstKeys(for: .jobCancel, in: [.global]).map { " · \($0) stops" } ?? ""
  }

  /// The fields of a view that hold only texts, even texts that look like numbers.
  private static func textFields(_ state: AppState, ofView view: Int) -> [String] {
    let path = state.tabs.lists[view].definition.source.path
    let schema = state.database.resources.registry.resource(ofChildrenOf: path)?.definition.schema
    return schema?.fields.filter(\.holdsText).map(\.field.text) ?? []
  }

  /// The most fields within others that are looked for, and the most records.
  private static let nestedMax = (fields: 1000, records: 50)

  /// The fields within others that the columns of a view show, or its loaded records have, unless a record has
  /// a field of which the key is made of the same name.
  private static func nestedFields(_ state: AppState, ofView view: Int) -> [Path] {
    let list = state.tabs.lists[view]
    var fields: [Path] = list.definition.columns.compactMap { column in
      if case .path(let path) = column.field, path.keys.count > 1 { path } else { nil }
    }
    func note(_ node: RunnelTree.Node, at path: Path) {
      if fields.count >= nestedMax.fields { return }
      if path.keys.count > 1, node.leaf != nil || state.database.coding.codedValue(node) != nil {
        fields.append(path)
      } else {
        for child in node.children {
          note(child.node, at: Path(unchecked: path.keys + [child.key]))
        }
      }
    }
    let records = list.someRecords(nestedMax.records).compactMap(\.row.node)
    for node in records { note(node, at: .root) }
    return Set(fields).filter { field in
      let name = field.keys.map { WritableKey.fileName(of: $0.text) }.joined(separator: "/")
      return records.allSatisfy { $0[WritableKey.key(of: name)].isEmpty }
    }.sorted()
  }

  /// Takes the content of the file that was read, or the error.
  static func take(_ state: inout AppState, _ content: FileContent, of file: String) {
    guard let reading = state.files.reading, case .importFile(let view) = reading.form.purpose
    else { return }
    var form = reading.form
    let isUntouched = TypeAhead.isUntouched(state, since: reading.inputCount)
    state.files.reading = nil
    do {
      switch content {
      case .failed(let reason): throw ImportPlan.Unreadable(message: reason)
      case .text(let text):
        confirm(
          &state, try plan(state, text, as: ImportPlan.format(ofFile: file), view: view),
          file: file, view: view)
      case .records(let plan, _): confirm(&state, plan, file: file, view: view)
      }
    } catch let error as ImportPlan.Unreadable {
      _ = form.refuse(0, error.message)
      Exporting.giveBack(&state, form, unless: !isUntouched, "\(file): \(error.message)")
    } catch {
      _ = form.refuse(0, "\(error)")
      Exporting.giveBack(&state, form, unless: !isUntouched, "\(file): \(error)")
    }
  }

  private static func plan(
    _ state: AppState, _ text: String, as format: ImportPlan.Format?, view: Int
  ) throws(ImportPlan.Unreadable) -> ImportPlan {
    try ImportPlan(
      text, as: format, texts: textFields(state, ofView: view),
      nested: nestedFields(state, ofView: view))
  }

  // MARK: Pastes

  /// Takes a paste while no text field has the keys: a single record opens the form for a new one,
  /// several records are imported.
  static func pasteRecords(_ state: inout AppState, _ text: String) {
    let begins = text.first { !$0.isWhitespace }
    guard state.layers.isEmpty, let view = state.tabs.front.view, begins == "{" || begins == "["
    else {
      return state.say(.warning, pasteAdvice(state))
    }
    guard canImport(&state) else { return }
    do throws(ImportPlan.Unreadable) {
      let plan = try plan(state, text, as: nil, view: view)
      if plan.isSingle, let row = plan.rows.first { return openForm(&state, filledWith: row) }
      confirm(&state, plan, file: nil, view: view)
    } catch {
      state.say(.error, "the paste cannot be taken: \(error.message)")
    }
  }

  private static func pasteAdvice(_ state: AppState) -> String {
    let keys = KeyText.frontKeys(state)
    let rest =
      keys.hint(.recordEdit, "edits", after: ": ") + keys.hint(.recordAdd, "adds", after: ", ")
    return "a paste goes into a text field\(rest)"
  }

  /// Opens the form for a new record, filled with a pasted record.
  private static func openForm(_ state: inout AppState, filledWith row: ImportPlan.Row) {
    guard let view = state.tabs.front.view else { return }
    if state.refuses(state.disabledReason(.recordAdd)) { return }
    let path = state.tabs.lists[view].definition.source.path
    if !ResourceCommands.openFormForNewRecord(
      &state, in: path, view: view, offersDraft: false)
    {
      state.layers.append(.form(state.tabs.lists[view].formForNewRecord(view: view)))
    }
    guard case .form(var form)? = state.layers.last else { return }
    let left = form.fill(with: row)
    state.layers[state.layers.count - 1] = .form(form)
    if let name = left.first {
      let others = left.count == 1 ? "" : ", and \(left.count - 1) others"
      state.say(.warning, "left out: \(ControlCharacters.escapedLine(name))\(others)")
    }
  }

  // MARK: The question

  private static func confirm(_ state: inout AppState, _ plan: ImportPlan, file: String?, view: Int)
  {
    let path = state.tabs.lists[view].definition.source.path
    let count = plan.rows.count
    guard let first = plan.rows.first else {
      let reason = plan.refused.first.map { "\($0.place): \($0.reason)" } ?? "nothing"
      return state.say(.error, "there is no record in it that can be taken; \(reason)")
    }
    var message = [StyledLine("into \(path), the first one:")]
    message.append(StyledLine(ImportPlan.short(first), .muted))
    let named = plan.rows.count { $0.key != nil }
    if named > 0 {
      message.append(
        StyledLine("\(named) have keys of their own: records with these keys are replaced", .warn))
    }
    if let refused = plan.refused.first {
      let rest = plan.refused.count == 1 ? "" : ", and \(plan.refused.count - 1) others"
      message.append(StyledLine("left out: \(refused.place): \(refused.reason)\(rest)", .warn))
    }
    message += plan.remarks(state.database.coding).map { StyledLine($0, .warn) }
    let numbersKey = KeyText(state.settings.keymap, [.confirm]).keys(.dialogNumbers)
    var progress = ImportProgress(plan, file: file, view: view)
    progress.texts = ImportedTexts(plan, into: state.tabs.lists[view])
    message += progress.texts?.lines(key: numbersKey) ?? []
    if let line = plan.renamedWords { message.append(StyledLine(line, .muted)) }
    var question = Question(
      .importRecords(progress),
      title: count == 1 ? "Import 1 record" : "Import \(count) records", message: message,
      explanation: explanation(state, count: count, isFile: file != nil),
      isDanger: false, openedAt: state.now)
    Question.offer(state, "import", "leave it", in: &question)
    // A question that opens by itself must not take keys that are meant for a field.
    state.layers.insert(
      .question(question), at: state.hasEditor ? state.layers.count - 1 : state.layers.count)
  }

  // MARK: The end

  /// Ends the import: says the result, and writes the refused records to a file beside the imported
  /// one.
  static func endImport(_ state: inout AppState) {
    guard let progress = state.files.importing else { return }
    let kept = progress.file == nil ? keepRefused(&state, of: progress) : 0
    state.files.importing = nil
    let stopped = progress.isStopped ? ", then stopped" : ""
    let done = progress.doneCount == 1 ? "1 record" : "\(progress.doneCount) records"
    let isSame =
      progress.doneCount > 0 && progress.step.map { state.writes.undoing.isEmpty($0) } == true
    if let step = progress.step { state.writes.undoing.release(step, title: "imported \(done)") }
    guard let first = progress.refused.first else {
      let remarks = progress.plan.remarks(state.database.coding).map { " · \($0)" }.joined()
      let waiting = state.database.waitingWords
      let words =
        waiting.isEmpty ? "imported \(done)\(stopped)" : "\(done) kept\(waiting)\(stopped)"
      if !isSame { return state.say(.info, words + remarks) }
      let isOne = progress.doneCount == 1
      let same =
        "\(done) read\(stopped): \(isOne ? "it" : "all") stood there already, nothing was changed"
      state.ask(.history(.root, before: nil, count: 0), for: .importWithoutEntry(words, same: same))
      return
    }
    if let file = progress.file {
      let ended = EndedImport(
        progress, of: file, into: state.tabs.lists[progress.view].definition.source.path,
        done: "imported \(done)\(stopped)", at: state.now,
        isUndoable: progress.doneCount > 0 && progress.step != nil && !isSame)
      state.files.ended.append(ended)
      state.effects.append(.writeRefused(ended.list, ImportPlan.lines(of: progress.refused)))
      return state.say(.error, ended.words)
    }
    let lists = kept == progress.refused.count ? "lists them" : "lists \(kept)"
    state.say(
      .error,
      "imported \(done)\(stopped); \(progress.refused.count) refused, "
        + "\(state.keysOrName(.syncOpen)) \(lists): \(first.place): \(first.reason)")
  }

  /// Says the result of an import without an entry in the history, and the reason; `same` are the words for
  /// one that changed nothing.
  static func tellNoEntry(
    _ state: inout AppState, _ words: String, same: String, isHistoryOn: Bool
  ) {
    let unkept = "\(words): the history is off, so that it cannot be taken back"
    state.say(.info, isHistoryOn ? same : unkept)
  }

  /// Keeps the refused records of a paste in the queue while there is room; returns their number.
  private static func keepRefused(_ state: inout AppState, of progress: ImportProgress) -> Int {
    let rows = Dictionary(
      progress.plan.rows.enumerated().map { ($1.place, $0) },
      uniquingKeysWith: { first, _ in first })
    let collection = state.tabs.lists[progress.view].definition.source.path
    let kept = progress.refused.prefix(max(state.writes.queue.room, 0))
    for refused in kept {
      let row = rows[refused.place]
      state.writes.queue.keep(
        PastedRecord(
          id: state.requests.newID(), view: progress.view, collection: collection,
          row: row.map { progress.plan.rows[$0] }, refused: refused),
        // A record that makes no valid request was refused for that reason, which is said.
        row.flatMap { try? request(state, forRow: $0) }, at: state.now)
    }
    QueueScreen.refreshQueue(&state)
    return kept.count
  }

  /// Opens a refused record of a paste in a form again.
  static func editAgain(_ state: inout AppState, _ pasted: PastedRecord, _ item: WriteQueue.Refused)
  {
    guard let row = pasted.row else { return }
    state.open(.view(pasted.view))
    openForm(&state, filledWith: row)
    guard case .form(var form)? = state.layers.last else { return }
    form.pasted = item.id
    form.take(item.refusal)
    state.layers[state.layers.count - 1] = .form(form)
  }

  /// Stops the export, import or read of a file; returns false if there is none.
  static func stopFileWork(_ state: inout AppState) -> Bool {
    if state.files.export != nil {
      state.effects.append(.stopExport)
      return true
    }
    if let form = state.files.reading?.form {
      state.files.reading = nil
      state.effects.append(.stopReading)
      state.say(.info, "the file is not read on; nothing was imported")
      Exporting.giveBack(&state, form)
      return true
    }
    guard state.files.importing != nil else { return false }
    state.files.importing?.isStopped = true
    state.say(.info, "the import stops")
    return true
  }
}

extension ImportPlan {
  /// The words on names that are written in another way; nil if there are none.
  fileprivate var renamedWords: String? {
    guard let name = renamed.min() else { return nil }
    let count = renamed.count == 1 ? "1 name holds" : "\(renamed.count) names hold"
    let shown = "\(ControlCharacters.escapedLine(name)) is written \(WritableKey.key(of: name))"
    return "\(count) signs that no key may have: \(shown)"
  }

  /// A record in one line of at most 200 characters.
  fileprivate static func short(_ row: Row) -> String {
    let text = text(of: row)
    return text.count > 200 ? text.prefix(200) + "…" : text
  }

  /// A record as a line of JSON with its key.
  static func text(of row: Row) -> String {
    let key = row.key.map { [JSONMember(ExportWriter.keyName, .string($0))] } ?? []
    guard case .object(let members) = row.value else {
      return JSONValue.object(key + [JSONMember(ExportWriter.valueName, row.value)]).jsonText()
    }
    return JSONValue.object(key + members).jsonText()
  }

  /// The refused records as JSON lines: each with its place, the reason, and the record.
  fileprivate static func lines(of refused: [Refused]) -> String {
    refused.map { refused in
      let record = (try? JSONValue(parsing: refused.text)) ?? .string(refused.text)
      let line: JSONValue = [
        "place": .string(refused.place), "reason": .string(refused.reason), "record": record,
      ]
      return line.jsonText() + "\n"
    }.joined()
  }
}

extension FormScreen {
  /// Puts the members of a record into their fields; members without a field get a new one.
  ///
  /// - Returns: The names of the members that no field can have.
  mutating func fill(with row: ImportPlan.Row) -> [String] {
    guard case .object(let members) = row.value else { return [] }
    var left: [String] = []
    if let key = row.key, let last = fields.indices.last, fields[last].label == FormScreen.keyLabel,
      fields[last].path.isRoot
    {
      fields[last].input.editor = LineEditor(key)
    }
    // A form without a schema has one field for the whole value, which the record does not need.
    fields.removeAll { $0.path.isRoot && $0.label != FormScreen.keyLabel }
    for member in members {
      guard let name = try? Key(member.name) else {
        left.append(member.name)
        continue
      }
      let path = Path(unchecked: [name])
      var place = fields.firstIndex { $0.path == path }
      if place == nil {
        let end = fields.last?.path.isRoot == true ? fields.count - 1 : fields.count
        let label = WritableKey.name(of: member.name)
        fields.insert(Field(label, path: path, FieldInput(rule: nil, member.value)), at: end)
        place = end
      }
      guard let index = place else { continue }
      if fields[index].input.rule == nil {
        fields[index].input = FieldInput(rule: nil, member.value)
      } else {
        fields[index].input.editor = LineEditor(FieldKind.text(of: member.value))
      }
      fields[index].input.check()
    }
    focus = fields.firstIndex { $0.input.error != nil } ?? 0
    return left
  }
}

extension FieldRule {
  /// Whether a value of the field is a text even if it looks like a number.
  fileprivate var holdsText: Bool {
    switch kind {
    case .text, .reference: true
    default: false
    }
  }
}
