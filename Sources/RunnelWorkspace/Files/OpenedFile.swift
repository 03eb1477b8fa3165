import RunnelBase
import RunnelTerminal
package import RunnelTree

/// The data file of which the open database was made, such as `notes.csv`.
package struct OpenedFile: Hashable, Sendable {
  var file: String
  var format: ExportFormat

  /// The place of the records, if the file is a list of them.
  var collection: Path { OpenedFile.collection(ofFile: file) }

  /// Returns the proposed name for an export: the file itself if all rows are exported, otherwise one
  /// beside it.
  func name(for choice: ExportChoice) -> String {
    guard let word = choice.partWord else { return file }
    let dot = file.lastIndex(of: ".") ?? file.endIndex
    return "\(file[..<dot])-\(word)\(file[dot...])"
  }
}

extension ExportChoice {
  /// The word for the part that is exported, or nil if it is all rows of a view.
  fileprivate var partWord: String? {
    if case .view(_, let filter, _) = source { return filter == nil ? nil : "filtered" }
    if source == .subtree(.root) { return nil }
    return word
  }
}

// MARK: Replacing it

extension Exporting {
  /// Asks whether the file of which the database was made is to be replaced, and says what goes.
  ///
  /// All that the file holds is saved, wherever the export was begun. If it was begun for a part, that alone
  /// is a choice of its own. With `isOfOthers`, others wrote to the file after it was read.
  static func askToReplace(
    _ state: inout AppState, _ export: ExportProgress, holding place: Path, _ losses: [String],
    isOfOthers: Bool
  ) {
    let job = export.job
    let replacing = Replacing(
      form: export.form, file: job.file, all: whole(state, at: place),
      part: job.source.isWhole(at: place) ? nil : job.source)
    var message: [StyledLine] = []
    if isOfOthers {
      message.append(StyledLine("others changed it after it was read: what they wrote goes", .warn))
    }
    message.append(
      StyledLine(
        place.isRoot
          ? "all of the database is written as it is now" : "all rows are written as they are now",
        .warn))
    if let format = ExportFormat(fileName: job.file), format != job.format {
      message.append(StyledLine("its content will be \(job.format.rawValue)", .warn))
    } else {
      message += losses.map { StyledLine($0, .warn) }
    }
    message.append(StyledLine("no copy is kept of the file as it is now"))
    let partKey = KeyText(state.settings.keymap, [.confirm]).keys(.dialogPart)
    if let part = replacing.part, let partKey {
      message.append(
        StyledLine("\(partKey) writes only \(words(on: part)): all else goes from the file"))
    }
    var explanation = [
      StyledLine(origin(isOfOthers: isOfOthers), .muted),
      StyledLine("The database keeps all its rows, whatever is in the file.", .muted),
      StyledLine(
        "Names, the order of columns, the sign between cells, and values that nobody changed stay as they "
          + "are in it; keys that it does not have are left out.", .muted),
    ]
    if job.format == .csv {
      explanation.append(
        StyledLine(
          "A new text that a spreadsheet would take for a formula, as =A1 or -b, gets a ' before it.",
          .muted))
    }
    let question = Question(
      .replaceFile(replacing), title: "Replace \(job.file)", message: message,
      explanation: explanation, openedAt: state.now)
    Question.open(&state, question, yes: "replace", no: "go on typing")
  }

  /// The words on where the rows come from.
  private static func origin(isOfOthers: Bool) -> String {
    isOfOthers
      ? "The rows here were read from it before others changed it; what they wrote is only in the file. To "
        + "keep both, say no, and export to another file."
      : "It is the file that was opened; the rows here were read from it."
  }

  /// All that the file holds.
  private static func whole(_ state: AppState, at place: Path) -> ExportJob.Source {
    if place.isRoot { return .subtree(.root) }
    let shown = state.tabs.lists.first { $0.definition.source.path == place }
    let view = ViewDefinition(
      name: place.lastKey.map { WritableKey.name(of: $0.text) } ?? "",
      source: SourceDefinition(path: place),
      columns: shown?.definition.columns ?? [])
    return .view(view, nil, FilterMatcher.Surroundings(me: state.database.me))
  }

  /// The words for a part of what the file holds.
  private static func words(on part: ExportJob.Source) -> String {
    switch part {
    case .view(let view, nil, _): "the rows of \(view.source.path)"
    case .view(_, let filter?, _): "the rows that fit \(filter.text)"
    case .records(let records, _): records.count == 1 ? "1 row" : "\(records.count) rows"
    case .subtree(.root): "the database from its root"
    case .subtree(let path): "\(path)"
    case .nodes(let paths): paths.count == 1 ? "1 node" : "\(paths.count) nodes"
    }
  }

  /// Starts the export that a form describes, which may replace the file.
  static func replace(_ state: inout AppState, _ replacing: Replacing, onlyPart: Bool = false) {
    var form = replacing.form
    form.purpose = form.purpose.replacing(replacing.file)
    guard case .export(let choices, let replaces) = form.purpose else { return }
    if let reason = reasonNotExported(state) {
      giveBack(&state, form)
      return state.say(.info, reason)
    }
    let all = onlyPart ? nil : replacing.all
    if !startExport(&state, &form, choices, replaces: replaces, all: all) {
      giveBack(&state, form)
    }
  }
}

/// What replaces the file of which the database was made.
struct Replacing: Hashable, Sendable {
  /// The form of the export.
  var form: FormScreen
  /// The name of the file, as typed.
  var file: String
  /// All that the file holds.
  var all: ExportJob.Source
  /// The part that the export was begun for; nil if that is all.
  var part: ExportJob.Source?
}

extension ExportJob.Source {
  /// Whether it is all that is at a place.
  package func isWhole(at place: Path) -> Bool {
    switch self {
    case .view(let view, let filter, _):
      filter == nil && view.source.path == place && view.source.equalTo == nil
        && view.source.filter == nil
    case .subtree(let path): path == place
    case .records, .nodes: false
    }
  }
}
