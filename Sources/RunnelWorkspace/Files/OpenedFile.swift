import RunnelBase
import RunnelTerminal
import RunnelTree

/// The data file of which the open database was made, such as `notes.csv`.
struct OpenedFile: Hashable, Sendable {
  var file: String
  var format: ExportFormat

  /// The place of the records, if the file is a list of them.
  var collection: Path {
    let name = file.split(separator: "/").last ?? ""
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
    return Path(unchecked: [WritableKey.key(of: String(stem))])
  }

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
  /// With `isOfOthers`, others wrote to the file after it was read.
  static func askToReplace(
    _ state: inout AppState, _ export: ExportProgress, _ losses: [String], isOfOthers: Bool
  ) {
    let job = export.job
    var message: [StyledLine] = []
    if isOfOthers {
      message.append(StyledLine("others changed it after it was read: what they wrote goes", .warn))
    }
    message.append(StyledLine(words(on: job.source), .warn))
    if let format = ExportFormat(fileName: job.file), format != job.format {
      message.append(StyledLine("its content will be \(job.format.rawValue)", .warn))
    } else {
      message += losses.map { StyledLine($0, .warn) }
    }
    message.append(StyledLine("no copy is kept of the file as it is now"))
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
      .replaceFile(export.form, file: job.file), title: "Replace \(job.file)", message: message,
      explanation: explanation, openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "replace", no: "go on typing")
  }

  /// The words on where the rows come from.
  private static func origin(isOfOthers: Bool) -> String {
    isOfOthers
      ? "The rows here were read from it before others changed it. To have what they wrote, say no, leave, "
        + "and open the file again: it is asked whether it is read again."
      : "It is the file that was opened; the rows here were read from it."
  }

  /// The words for what the replaced file has afterwards, and what goes from it.
  private static func words(on source: ExportJob.Source) -> String {
    switch source {
    case .view(_, nil, _): return "all rows are written as they are now"
    case .view(_, let filter?, _):
      return "only the rows that fit \(filter.text) stay in it: the others go from the file"
    case .records(let records, _):
      let rows = records.count == 1 ? "1 row stays" : "\(records.count) rows stay"
      return "only \(rows) in it: the others go from the file"
    case .subtree(.root): return "all of the database is written as it is now"
    case .subtree(let path): return "only \(path) stays in it: all else goes from the file"
    case .nodes(let paths):
      let nodes = paths.count == 1 ? "1 node stays" : "\(paths.count) nodes stay"
      return "only \(nodes) in it: all else goes from the file"
    }
  }

  /// Starts the export that a form describes, which may replace the file.
  static func replace(_ state: inout AppState, _ form: FormScreen, file: String) {
    var form = form
    form.purpose = form.purpose.replacing(file)
    guard case .export(let choices, let replaces) = form.purpose else { return }
    if let reason = reasonNotExported(state) {
      giveBack(&state, form)
      return state.say(.info, reason)
    }
    if !startExport(&state, &form, choices, replaces: replaces) { giveBack(&state, form) }
  }
}
