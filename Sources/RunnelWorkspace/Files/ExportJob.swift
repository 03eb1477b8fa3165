import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// An export: its records, format and file.
package struct ExportJob: Hashable, Sendable {
  /// The records to export.
  package enum Source: Hashable, Sendable {
    /// All rows of a view that match its filter, loaded or not.
    case view(ViewDefinition, Filter?, FilterMatcher.Surroundings)
    /// The given records.
    case records([Record], columns: [FieldPath])
    /// The content of a place: one row per child, or the value itself.
    case subtree(Path)
    /// The content of several places: one row per place.
    case nodes([Path])
  }

  package var source: Source
  package var format: ExportFormat
  /// The name of the file, as typed.
  package var file: String
  /// Whether an existing file is replaced.
  package var replaces = false
  /// The data file of which the open database was made, or nil if there is none; it is replaced only
  /// after a question.
  package var opened: String?
  /// The mark of what that file held when the user agreed to replace it; nil if it is not known.
  package var agreed: String?
  /// Whether the rows that are known here are written without asking the server for all of them.
  package var takesKnown = false
  /// How values that a tree does not hold stand in the records.
  package var coding = ValueCoding.tree
}

/// A report of the progress or the result of an export.
package enum ExportReport: Hashable, Sendable {
  /// The rows that are not known here are being read from the server.
  case reading
  /// There is no connection to the server: the rows that are known here may not be all, and may be old.
  case isOffline
  /// The number of rows that were looked at so far for the columns that they need, before any is written.
  case surveyed(count: Int)
  /// The number of records written so far.
  case progress(count: Int)
  /// The file was written. `cutCount` is the number of records with fields that came while the file
  /// was written, and have no column.
  case done(file: String, count: ExportedCount, bytes: Int, cutCount: Int)
  /// A file with this name exists already.
  case isThere(String)
  /// The name is that of the file of which the open database was made; `place` is where that is which it
  /// holds. `losses` is what it would not keep of its form, each in words; `mark` tells what it holds, and
  /// `isOfOthers` whether others wrote that after it was read.
  case isOpened(
    String, holding: Path, losses: [String] = [], mark: String? = nil, isOfOthers: Bool = false)
  /// The file could not be written, for this reason; no file was left.
  case failed(String)
  /// The user stopped the export; no file was left.
  case stopped

  /// Whether the export goes on.
  package var isProgress: Bool {
    switch self {
    case .reading, .surveyed, .progress: true
    default: false
    }
  }
}

/// An export that is under way.
package struct ExportProgress: Hashable, Sendable {
  package var job: ExportJob
  /// Milliseconds since 1970.
  var startedAt: Int64
  /// The value of `InputState.count` when the export began.
  var inputCount: Int
  /// The form of the export, which is shown again if the export fails.
  package var form: FormScreen
  /// Whether the first report may be a question about the opened file, for which all input waits.
  var awaitsQuestion = false
}

extension ExportJob {
  /// Whether the file seems to be the opened one, about which is asked: only a look at the files can tell.
  fileprivate var mayReplaceOpened: Bool {
    guard !replaces, let opened else { return false }
    return opened.split(separator: "/").last == file.split(separator: "/").last
  }
}

/// A choice of the records to export, offered where the export was opened.
package struct ExportChoice: Hashable, Sendable {
  /// The word in the form.
  package var word: String
  /// The choice described in words.
  package var title: String
  package var source: ExportJob.Source
}

// MARK: The form

/// Writes records to files.
enum Exporting {
  /// The time in milliseconds before a running export is mentioned.
  static let quietExportMilliseconds: Int64 = 200

  /// Opens a form that asks for the records to export, the format, and the file; or begins at once with the
  /// first choice of records.
  static func openExport(
    _ state: inout AppState, _ format: ExportFormat = .json, file: String? = nil,
    beginsAtOnce: Bool = false
  ) {
    if let reason = reasonNotExported(state) { return state.say(.info, reason) }
    let choices = exportChoices(state)
    guard let first = choices.first else {
      let path = OutsideEdit.placeAtHand(state) ?? .root
      let reason = TreeListing.reasonNotWhole(state, [path])
      let words = reason.map { "\($0): `runnel export` writes all of it" }
      return state.say(.info, words ?? "there is nothing here to export")
    }
    // What was opened is saved back to where it came from, unless another format is asked for.
    if file == nil, format == .json, let opened = openedFile(state) {
      return openExport(&state, opened.format, file: opened.name(for: first))
    }
    let name = file ?? "\(exportName(state)).\(format.fileExtension)"
    var form = FormScreen(
      purpose: .export(choices, replaces: nil), title: "Export",
      fields: [
        .choice("what", choices.map { ($0.word, $0.title) }, first: first.word),
        .choice("format", ExportFormat.allCases.map { ($0.rawValue, "") }, first: format.rawValue),
        FormScreen.Field("file", kind: .string, text: name),
      ])
    if beginsAtOnce, startExport(&state, &form, choices, replaces: nil) { return }
    // A file that the user has just named comes before a draft.
    if file == nil { FormScreen.open(&state, form) } else { state.layers.append(.form(form)) }
  }

  /// The data file that the list in front was made of, if it holds all of the database; otherwise nil.
  private static func openedFile(_ state: AppState) -> OpenedFile? {
    guard let file = state.files.dataFile, let format = ExportFormat(fileName: file),
      state.layers.isEmpty
    else { return nil }
    let opened = OpenedFile(file: file, format: format)
    let lists = state.tabs.lists.prefix(state.tabs.fixedCount).map(\.definition.source.path)
    let isWhole =
      state.tabs.front == .tree
      // A list is in the tree below the name of the file.
      ? format == .json && !lists.contains(opened.collection) : lists.count == 1
    return isWhole ? opened : nil
  }

  /// The reason why no export can begin, or nil if one can.
  static func reasonNotExported(_ state: AppState) -> String? {
    state.files.export == nil ? nil : SharedCommands.reasonUnderWay("an export is under way")
  }

  /// Returns the choices of what to export here, the most likely first.
  private static func exportChoices(_ state: AppState) -> [ExportChoice] {
    if case .record(let screen)? = state.layers.last { return [subtreeChoice(state, screen.path)] }
    if case .help(let screen)? = state.layers.last {
      return [keysChoice(state, screen)].compactMap(\.self)
    }
    guard let screen = state.tabs.frontList else { return exportChoicesInTree(state) }
    var choices: [ExportChoice] = []
    let marked = screen.markedRecords
    if !marked.isEmpty {
      choices.append(
        ExportChoice(
          word: "marked", title: marked.count == 1 ? "1 row" : "\(marked.count) rows",
          source: .records(marked, columns: screen.definition.exportColumns)))
    }
    let surroundings = FilterMatcher.Surroundings(
      me: state.database.me, new: screen.news.arrived, marked: screen.marks)
    choices.append(
      ExportChoice(
        word: "view",
        title: screen.filtering.filter.map { "all that fit \($0.text)" } ?? "all rows",
        source: .view(screen.definition, screen.filtering.filter, surroundings)))
    if let loadedChoice = FileGone.loadedChoice(state) { choices.append(loadedChoice) }
    if let record = screen.cursorRecord {
      choices.append(subtreeChoice(state, record.path, "record"))
    }
    return choices
  }

  /// Returns the choice to export the keys that the help shows, or nil if it shows none.
  private static func keysChoice(_ state: AppState, _ screen: HelpScreen) -> ExportChoice? {
    // Names and descriptions of actions are ordinary texts, which a record can hold.
    guard let (records, columns) = try? screen.exportedRecords(), !records.isEmpty else {
      return nil
    }
    return ExportChoice(
      word: "keys", title: records.count == 1 ? "1 action" : "\(records.count) actions",
      source: .records(records, columns: columns))
  }

  private static func exportChoicesInTree(_ state: AppState) -> [ExportChoice] {
    let marked = state.tabs.tree.markedNodes.map(\.path)
    var choices: [ExportChoice] = []
    if !marked.isEmpty {
      choices.append(
        ExportChoice(
          word: "marked", title: marked.count == 1 ? "1 node" : "\(marked.count) nodes",
          source: .nodes(marked)))
    }
    if case .node(let path, _, _)? = state.tabs.tree.cursorLine {
      choices.append(subtreeChoice(state, path))
    } else {
      choices.append(subtreeChoice(state, .root))
    }
    // Of what a server listed, a part would be written as if it were all.
    choices.removeAll { choice in
      switch choice.source {
      case .nodes(let paths): paths.contains(where: state.tabs.tree.isListed)
      case .subtree(let path): state.tabs.tree.isListed(path)
      default: false
      }
    }
    return choices
  }

  private static func subtreeChoice(
    _ state: AppState, _ path: Path, _ word: String = "node"
  ) -> ExportChoice {
    ExportChoice(word: word, title: path.description, source: .subtree(path))
  }

  /// Returns the proposed file name without extension: the name of the view, or the key of the
  /// node.
  private static func exportName(_ state: AppState) -> String {
    var name = state.tabs.frontList?.definition.name ?? state.database.name
    if case .record(let screen)? = state.layers.last {
      name = screen.path.lastKey?.text ?? state.database.name
    }
    if state.tabs.front == .tree, state.tabs.tree.markCount > 0 {
      name = "marked"
    } else if state.tabs.front == .tree, case .node(let path, _, _)? = state.tabs.tree.cursorLine {
      name = path.lastKey?.text ?? state.database.name
    }
    let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }
    return words.isEmpty ? "export" : words.joined(separator: "-")
  }

  /// Starts the export that a form describes, or that of all the opened file holds; returns false if a field
  /// of the form is wrong.
  static func startExport(
    _ state: inout AppState, _ form: inout FormScreen, _ choices: [ExportChoice], replaces: String?,
    all: ExportJob.Source? = nil
  ) -> Bool {
    let texts = form.fields.map(\.input.editor.text)
    guard let choice = choices.first(where: { $0.word == texts[0] }) else {
      return form.refuse(0, "is one of \(choices.map(\.word).joined(separator: ", "))")
    }
    guard let format = ExportFormat(rawValue: texts[1]) else {
      return form.refuse(1, "is one of \(ExportFormat.names)")
    }
    let file = texts[2]
    if file.isEmpty || file.hasSuffix("/") { return form.refuse(2, "name a file") }
    let job = ExportJob(
      source: all ?? choice.source, format: format, file: file, replaces: replaces == file,
      opened: state.files.dataFile, agreed: replaces == file ? state.files.agreed : nil,
      coding: state.database.coding)
    state.files.export = ExportProgress(
      job: job, startedAt: state.now, inputCount: state.input.count, form: form,
      awaitsQuestion: job.mayReplaceOpened)
    if job.mayReplaceOpened {
      state.say(.info, lookingAtFile(state, file), givesWay: true)
    }
    state.effects.append(.export(state.requests.newID(), job))
    return true
  }

  /// Takes a report of an export that goes on or has ended.
  static func take(_ state: inout AppState, _ report: ExportReport) {
    guard let export = state.files.export else { return }
    if export.awaitsQuestion {
      // The keys that waited come now.
      state.files.export?.awaitsQuestion = false
      if state.toast?.toast.text == lookingAtFile(state, export.job.file) { state.toast = nil }
    }
    if report == .reading {
      let words = "reading all rows of the list from the server, before they are exported"
      return state.say(.info, words + stopHint(state))
    }
    if let words = progressWords(report) {
      if state.now - export.startedAt >= quietExportMilliseconds {
        state.say(.info, words + stopHint(state))
      }
      return
    }
    state.files.export = nil
    // What waits in the type-ahead is for what the report opens.
    let isTouched =
      !export.awaitsQuestion && !TypeAhead.isUntouched(state, since: export.inputCount)
    switch report {
    case .reading, .surveyed, .progress: break
    case .isOffline:
      if isTouched {
        return state.say(.error, "not exported: there is no connection to the server")
      }
      KnownExport.ask(&state, export)
    case .done(let file, let count, let bytes, let cutCount):
      let cut = cutCount == 0 ? "" : "; \(cutCount) got more fields meanwhile, which are left out"
      let known = export.job.takesKnown ? ", which are those known here" : ""
      state.say(.info, "exported \(count.words)\(known), \(bytes) bytes, to \(file)\(cut)")
    case .isThere:
      var form = export.form
      form.purpose = form.purpose.replacing(export.job.file)
      _ = form.refuse(2, "is there already: save again to replace it, or name another")
      giveBack(&state, form, unless: isTouched, "not exported: \(export.job.file) is there already")
    case .isOpened(_, let place, let losses, let mark, let isOfOthers):
      if isTouched {
        let words = "not exported: that is the file that was opened, which is asked about"
        return state.say(.error, "\(words) · export again, and wait for the question")
      }
      state.files.agreed = mark
      askToReplace(&state, export, holding: place, losses, isOfOthers: isOfOthers)
    case .failed(let reason):
      var form = export.form
      _ = form.refuse(2, reason)
      giveBack(&state, form, unless: isTouched, "not exported: \(reason)")
    case .stopped: state.say(.info, "the export was stopped, and left no file")
    }
  }

  /// What a report of progress tells; nil for other reports.
  private static func progressWords(_ report: ExportReport) -> String? {
    switch report {
    case .surveyed(let count): "exporting: looked at \(count) rows for their columns"
    case .progress(let count): "exporting: \(count) records"
    default: nil
    }
  }

  private static func lookingAtFile(_ state: AppState, _ file: String) -> String {
    "looking at what \(file) holds" + stopHint(state)
  }

  private static func stopHint(_ state: AppState) -> String {
    state.settings.keymap.firstKeys(for: .jobCancel, in: [.global]).map { " · \($0) stops" } ?? ""
  }

  /// Shows a form again; if the user is doing something else, it only says the reason of the
  /// failure.
  static func giveBack(
    _ state: inout AppState, _ form: FormScreen, unless isTouched: Bool = false,
    _ reason: String = ""
  ) {
    if isTouched { return state.say(.error, reason) }
    switch state.layers.last {
    case .record(let screen) where screen.edit != nil: state.layers.insert(.form(form), at: 0)
    case nil, .record: state.layers.append(.form(form))
    default: state.layers.insert(.form(form), at: state.layers.count - 1)
    }
  }
}

extension FormScreen.Purpose {
  /// The same purpose of an export, but allowed to replace a file.
  func replacing(_ file: String) -> Self {
    if case .export(let choices, _) = self { .export(choices, replaces: file) } else { self }
  }
}

extension FormScreen {
  /// Adjusts the extension of the file name to the format while the format is being chosen; the
  /// name is not changed while the user edits it.
  mutating func followFormat() {
    guard case .export = purpose, fields.count == 3, focus == 1,
      let format = ExportFormat(rawValue: fields[1].input.editor.text)
    else { return }
    let name = fields[2].input.editor.text
    guard let named = ExportFormat(fileName: name), named != format,
      let dot = name.lastIndex(of: ".")
    else { return }
    fields[2].input.editor = LineEditor(name[...dot] + format.fileExtension)
  }
}

extension FormScreen.Field {
  /// Makes a field with a choice between words.
  package static func choice(
    _ label: String, _ words: [(text: String, title: String)], first: String
  ) -> FormScreen.Field {
    let rule = FieldRule(
      Key(unchecked: label), .choice(words.map { .string($0.text) }), isRequired: true)
    var input = FieldInput(rule: rule, .string(first))
    input.choices = words.map { FieldInput.Choice(text: $0.text, title: $0.title) }
    return FormScreen.Field(label, input)
  }
}
