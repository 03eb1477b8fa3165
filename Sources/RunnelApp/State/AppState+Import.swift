import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Records that come from a file or a paste into the collection of a view.

/// An import that is under way.
struct ImportProgress: Hashable, Sendable {
  /// How many records are asked for at once; so many are one step to undo.
  static let batchCount = 500

  let plan: ImportPlan
  /// The file; nil for a paste.
  let file: String?
  let view: Int
  /// The row that is asked for next.
  var next = 0
  /// How many are asked for and not answered.
  var waiting = 0
  var doneCount = 0
  var refused: [ImportPlan.Refused]
  var isStopped = false

  init(_ plan: ImportPlan, file: String?, view: Int) {
    (self.plan, self.file, self.view) = (plan, file, view)
    refused = plan.refused
  }
}

/// A record of a paste that was refused.
struct PastedRecord: Hashable, Sendable {
  /// Its id in the queue.
  let id: RequestID
  let view: Int
  /// Where it was to be added.
  let collection: Path
  /// The record; nil if the text is none.
  let row: ImportPlan.Row?
  let refused: ImportPlan.Refused

  /// What was to be done, in words.
  var title: String { "\(refused.place) of a paste into \(collection)" }
}

/// A file that is being read for an import.
struct ImportReading: Hashable, Sendable {
  /// How long a file is read before that is mentioned, in milliseconds.
  static let quietMilliseconds: Int64 = 200

  /// The form that names the file, to be given back if it cannot be read.
  var form: FormScreen
  /// Milliseconds since 1970.
  var startedAt: Int64
  /// How much the user had done by then; see `AppState.inputCount`.
  var inputCount = 0
}

/// What was read of a file.
enum FileContent: Hashable, Sendable {
  /// Its text.
  case text(String)
  /// The records in it, and its text.
  case records(ImportPlan, text: String)
  case failed(String)
}

extension AppState {
  /// Asks which file is to be imported into the view.
  mutating func openImport(_ file: String = "") {
    guard canImport() else { return }
    let path = lists[active].definition.source.path
    layers.append(
      .form(
        FormScreen(
          purpose: .importFile(view: active), title: "Import into \(path)",
          fields: [FormScreen.Field("file", kind: .string, text: file)],
          note: "JSON, JSON lines or CSV, \(ImportPlan.bytesMax >> 20) MB at most; "
            + "`runnel import` takes more")))
  }

  /// Why nothing is imported here; nil if something may be.
  var reasonNotImported: String? {
    if isTree { return "records are imported into a view: go to one first" }
    return reasonReadOnly
      ?? (importing == nil && reading == nil
        ? nil : phrase("an import is under way", .jobCancel, "stops it"))
  }

  /// False if nothing can be imported here, which is then said.
  private mutating func canImport() -> Bool {
    guard let reason = reasonNotImported else { return true }
    say(reason == reasonReadOnly ? .warning : .info, reason)
    return false
  }

  /// Asks for the file that a form names; false if it names none.
  mutating func readImport(_ form: inout FormScreen) -> Bool {
    let file = form.fields[0].input.editor.text
    if file.isEmpty { return form.refuse(0, "name a file with JSON, JSON lines or CSV") }
    guard case .importFile(let view) = form.purpose else { return false }
    reading = ImportReading(form: form, startedAt: now, inputCount: inputCount)
    effects.append(.readFile(file, texts: textFields(ofView: view)))
    return true
  }

  /// So much of the file has been read.
  mutating func tellReading(_ count: Int, of size: Int) {
    guard let reading, now - reading.startedAt >= ImportReading.quietMilliseconds else { return }
    let percent = size == 0 ? 100 : count * 100 / size
    say(.info, (percent < 100 ? "reading: \(percent)%" : "looking for records") + stopHint)
  }

  /// The keys that stop what is under way, for the end of a sentence.
  private var stopHint: String {
    keymap.firstKeys(for: .jobCancel, in: [.global]).map { " · \($0) stops" } ?? ""
  }

  /// The fields of a view that hold texts only, also where they look like numbers.
  private func textFields(ofView view: Int) -> [String] {
    let path = lists[view].definition.source.path
    let schema = resources.registry.resource(ofChildrenOf: path)?.definition.schema
    return schema?.fields.filter(\.holdsText).map(\.field.text) ?? []
  }

  /// A file that was asked for was read, or was not.
  mutating func take(_ content: FileContent, of file: String) {
    guard let reading, case .importFile(let view) = reading.form.purpose else { return }
    var form = reading.form
    let isUntouched = self.isUntouched(since: reading.inputCount)
    self.reading = nil
    do {
      switch content {
      case .failed(let reason): throw ImportPlan.Unreadable(message: reason)
      case .text(let text):
        confirm(
          try plan(text, as: ImportPlan.format(ofFile: file), view: view), file: file, view: view)
      case .records(let plan, _): confirm(plan, file: file, view: view)
      }
    } catch let error as ImportPlan.Unreadable {
      _ = form.refuse(0, error.message)
      giveBack(form, unless: !isUntouched, "\(file): \(error.message)")
    } catch {
      _ = form.refuse(0, "\(error)")
      giveBack(form, unless: !isUntouched, "\(file): \(error)")
    }
  }

  private func plan(
    _ text: String, as format: ImportPlan.Format?, view: Int
  ) throws(ImportPlan.Unreadable) -> ImportPlan {
    try ImportPlan(text, as: format, texts: textFields(ofView: view))
  }

  // MARK: Pastes

  /// Takes a paste where no text is typed: a record opens the form for a new one, several are imported.
  mutating func pasteRecords(_ text: String) {
    let begins = text.first { !$0.isWhitespace }
    guard layers.isEmpty, !isTree, begins == "{" || begins == "[" else {
      return say(.warning, pasteAdvice)
    }
    guard canImport() else { return }
    do throws(ImportPlan.Unreadable) {
      let plan = try plan(text, as: nil, view: active)
      if plan.isSingle, let row = plan.rows.first { return openForm(filledWith: row) }
      confirm(plan, file: nil, view: active)
    } catch {
      say(.error, "the paste cannot be taken: \(error.message)")
    }
  }

  private var pasteAdvice: String {
    let keys = isTree ? treeKeys : listKeys
    let rest =
      keys.hint(.recordEdit, "edits", after: ": ") + keys.hint(.recordAdd, "adds", after: ", ")
    return "a paste goes into a text field\(rest)"
  }

  /// Opens the form for a new record with what was pasted in it.
  private mutating func openForm(filledWith row: ImportPlan.Row) {
    if refuses(disabledReason(.recordAdd)) { return }
    let path = lists[active].definition.source.path
    if !openFormForNewRecord(in: path, view: active) {
      layers.append(.form(lists[active].formForNewRecord(view: active)))
    }
    guard case .form(var form)? = layers.last else { return }
    form.fill(with: row)
    layers[layers.count - 1] = .form(form)
  }

  // MARK: The question

  private mutating func confirm(_ plan: ImportPlan, file: String?, view: Int) {
    let path = lists[view].definition.source.path
    let count = plan.rows.count
    guard let first = plan.rows.first else {
      let reason = plan.refused.first.map { "\($0.place): \($0.reason)" } ?? "nothing"
      return say(.error, "there is no record in it that can be taken; \(reason)")
    }
    var message = [StyledLine("into \(path), the first one:")]
    message.append(StyledLine(ImportPlan.short(first), .muted))
    let named = plan.rows.count { $0.key != nil }
    if named > 0 {
      message.append(
        StyledLine("\(named) name their keys: what stands there is replaced", .warn))
    }
    if let refused = plan.refused.first {
      let rest = plan.refused.count == 1 ? "" : ", and \(plan.refused.count - 1) others"
      message.append(StyledLine("left out: \(refused.place): \(refused.reason)\(rest)", .warn))
    }
    let dialog = ConfirmDialog(
      title: count == 1 ? "Import 1 record" : "Import \(count) records", message: message,
      hints: [])
    var question = ConfirmScreen(dialog: dialog, openedAt: now)
    question.plan = ImportProgress(plan, file: file, view: view)
    question.explanation = [
      StyledLine("Each record is written by itself: one that is refused stops no other.", .muted),
      StyledLine(
        file == nil
          ? "What is refused is kept in the queue of writes, with the reason."
          : "What is refused is written beside the file, with the reason.", .muted),
      StyledLine("So many at once are one step to undo: \(ImportProgress.batchCount).", .muted),
    ]
    offer("import", "leave it", in: &question)
    // Keys that are meant for a field are no answer to a question that comes by itself.
    layers.insert(.confirm(question), at: hasEditor ? layers.count - 1 : layers.count)
  }

  // MARK: Writing

  mutating func startImport(_ progress: ImportProgress) {
    if refusesWriting() { return }
    importing = progress
    submitBatch()
  }

  /// Asks for the next records, in one step to undo.
  private mutating func submitBatch() {
    guard let importing, !importing.isStopped else { return endImport() }
    let batch = importing.plan.rows.indices.dropFirst(importing.next)
      .prefix(ImportProgress.batchCount)
    if batch.isEmpty { return endImport() }
    self.importing?.next = batch.endIndex
    self.importing?.waiting = batch.count
    var failures: [(index: Int, reason: String)] = []
    let words = batch.count == 1 ? "1 record" : "\(batch.count) records"
    UndoHistory.joining("imported \(words)", &self) { state in
      for index in batch {
        do {
          state.submit(.importRow(index), try state.request(forRow: index))
        } catch {
          failures.append((index, (error as? Refusal)?.message ?? "\(error)"))
        }
      }
    }
    for failure in failures { noteImport(of: failure.index, failure.reason) }
  }

  private func request(forRow index: Int) throws -> WriteRequest {
    guard let importing else { throw Refusal("the import is over") }
    let row = importing.plan.rows[index]
    let definition = lists[importing.view].definition
    var value = row.value
    if case .object(let members) = value {
      // What is computed for new records is, unless the text has it.
      value = definition.record(
        filledWith: members.map { (Path(unchecked: [Key(unchecked: $0.name)]), $0.value) }, me: me,
        isForm: true)
    }
    guard let key = row.key else { return try resources.adding(value, to: definition.source.path) }
    return try resources.setting(value, at: definition.source.path.child(Key(key)))
  }

  /// A record was taken, or was not for a reason.
  mutating func noteImport(of index: Int, _ reason: String? = nil) {
    guard var progress = importing else { return }
    progress.waiting -= 1
    if let reason {
      let row = progress.plan.rows[index]
      progress.refused.append(
        ImportPlan.Refused(
          place: row.place, reason: reason, text: ImportPlan.text(of: row)))
    } else {
      progress.doneCount += 1
    }
    importing = progress
    guard progress.waiting == 0 else { return }
    if progress.next < progress.plan.rows.count {
      say(.info, "imported \(progress.doneCount) of \(progress.plan.rows.count)\(stopHint)")
    }
    submitBatch()
  }

  /// Says what became of all, and has what was refused written beside the file.
  private mutating func endImport() {
    guard let progress = importing else { return }
    let kept = progress.file == nil ? keepRefused(of: progress) : 0
    importing = nil
    let stopped = progress.isStopped ? ", then stopped" : ""
    let done = progress.doneCount == 1 ? "1 record" : "\(progress.doneCount) records"
    guard let first = progress.refused.first else {
      return say(.info, "imported \(done)\(stopped)")
    }
    var words = "imported \(done)\(stopped); \(progress.refused.count) refused"
    if let file = progress.file {
      // One of an import before may have been corrected by hand since.
      let beside = "\(file).refused-\(now).jsonl"
      effects.append(.writeFile(beside, ImportPlan.lines(of: progress.refused)))
      words += " and written to \(beside)"
    } else {
      let keys = keymap.firstKeys(for: .syncOpen, in: contexts) ?? "`\(ActionID.syncOpen)`"
      words += kept == progress.refused.count ? ", \(keys) lists them" : ", \(keys) lists \(kept)"
    }
    say(.error, words + ": \(first.place): \(first.reason)")
  }

  /// Keeps what was refused of a paste in the queue, as far as there is room; how many that are.
  private mutating func keepRefused(of progress: ImportProgress) -> Int {
    let rows = Dictionary(
      progress.plan.rows.enumerated().map { ($1.place, $0) },
      uniquingKeysWith: { first, _ in first })
    let collection = lists[progress.view].definition.source.path
    let kept = progress.refused.prefix(max(queue.room, 0))
    for refused in kept {
      let row = rows[refused.place]
      queue.keep(
        PastedRecord(
          id: requests.newID(), view: progress.view, collection: collection,
          row: row.map { progress.plan.rows[$0] }, refused: refused),
        // What cannot be asked for was refused for that, which is said.
        row.flatMap { try? request(forRow: $0) }, at: now)
    }
    refreshQueue()
    return kept.count
  }

  /// Goes on with a refused record of a paste in a form.
  mutating func editAgain(_ pasted: PastedRecord, _ item: WriteQueue.Refused) {
    guard let row = pasted.row else { return }
    open(pasted.view)
    openForm(filledWith: row)
    guard case .form(var form)? = layers.last else { return }
    form.pasted = item.id
    form.take(item.refusal)
    layers[layers.count - 1] = .form(form)
  }

  /// Stops what writes or reads a file; false if nothing does.
  mutating func stopFileWork() -> Bool {
    if export != nil {
      effects.append(.stopExport)
      return true
    }
    if let form = reading?.form {
      reading = nil
      effects.append(.stopReading)
      say(.info, "the file is not read on; nothing was imported")
      giveBack(form)
      return true
    }
    guard importing != nil else { return false }
    importing?.isStopped = true
    say(.info, "the import stops")
    return true
  }
}

extension ImportPlan {
  /// A record in one line that is not long.
  fileprivate static func short(_ row: Row) -> String {
    let text = text(of: row)
    return text.count > 200 ? text.prefix(200) + "…" : text
  }

  /// A record as a line of JSON with its key.
  fileprivate static func text(of row: Row) -> String {
    let key = row.key.map { [JSONMember(RecordWriter.keyName, .string($0))] } ?? []
    guard case .object(let members) = row.value else {
      return JSONValue.object(key + [JSONMember(RecordWriter.valueName, row.value)]).jsonText()
    }
    return JSONValue.object(key + members).jsonText()
  }

  /// What was refused, a line of JSON for each: the record, and why.
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
  /// Puts the members of a record into the fields for them; those without one get a field of their own.
  mutating func fill(with row: ImportPlan.Row) {
    guard case .object(let members) = row.value else { return }
    if let key = row.key, let last = fields.indices.last, fields[last].label == FormScreen.keyLabel,
      fields[last].path.isRoot
    {
      fields[last].input.editor = LineEditor(key)
    }
    // A form that knows no field asks for one value, which the record is not.
    fields.removeAll { $0.path.isRoot && $0.label != FormScreen.keyLabel }
    for member in members {
      guard let name = try? Key(member.name) else { continue }
      let path = Path(unchecked: [name])
      var place = fields.firstIndex { $0.path == path }
      if place == nil {
        let end = fields.last?.path.isRoot == true ? fields.count - 1 : fields.count
        fields.insert(Field(member.name, path: path, FieldInput(rule: nil, member.value)), at: end)
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
  }
}

extension FieldRule {
  /// True if what looks like a number is a text, too.
  fileprivate var holdsText: Bool {
    switch kind {
    case .text, .reference: true
    default: false
    }
  }
}
