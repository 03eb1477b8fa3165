import RunnelBase
import RunnelTerminal

// The file of the database is gone while the workspace is open: deleted, moved, replaced or cut off. Nothing
// is written any more, what is seen and typed stays, and may be saved elsewhere.

/// What became of the file, and of what it held.
struct FileGone: Hashable, Sendable {
  /// What happened and what to do.
  var message: String
  /// Whether all that could be read was saved elsewhere since.
  var isCopied = false
}

extension AppState {
  /// Why nothing is written any more; nil while the file is there.
  var reasonGone: String? {
    fileGone == nil ? nil : "the file is gone: nothing is written any more"
  }

  /// What is said as long as nothing else is.
  var lossToast: Toast? {
    guard let fileGone, !matcher.isPending, awaited == nil else { return nil }
    if fileGone.isCopied { return Toast(.warning, "the file is gone; a copy was saved") }
    return Toast(.error, "\(fileGone.message) \(waysOut)")
  }

  /// How what is open is saved.
  private var waysOut: String {
    let name = PaletteCommand.saveCopy.name
    return phrase("`\(name) FILE` saves all that can be read", .dataExport, "exports this view")
  }

  /// The file is gone.
  mutating func lose(_ message: String) {
    fileGone = FileGone(message: message)
    // Words of success that are still there would be taken for those of now.
    toast = nil
  }

  /// The whole database was saved to a file.
  mutating func noteCopy(_ file: String, bytes: Int) {
    fileGone?.isCopied = true
    say(.info, "saved all, \(ByteCount.text(bytes)), to \(file)")
  }

  /// Leaves, unless that would lose something that nobody was asked about.
  mutating func leave() {
    guard let fileGone, !fileGone.isCopied else {
      isLeaving = true
      return
    }
    let dialog = ConfirmDialog(
      title: "Leave, though the file is gone",
      message: [StyledLine("what is open here ends with the program", .warn)] + unsavedLines,
      hints: [], isDanger: true)
    var question = ConfirmScreen(dialog: dialog, openedAt: now)
    question.leaves = true
    question.explanation = [StyledLine(fileGone.message, .muted), StyledLine(waysOut, .muted)]
    offer("leave", "stay", in: &question)
    layers.append(.confirm(question))
  }

  /// What was typed and is nowhere else.
  private var unsavedLines: [StyledLine] {
    var lines: [StyledLine] = []
    let writes = queue.refused.count
    if writes > 0 {
      let words = writes == 1 ? "1 write that was not done" : "\(writes) writes that were not done"
      lines.append(StyledLine("\(words): " + keysOrName(.syncOpen) + " lists them", .warn))
    }
    let drafts = lists.count { !$0.draft.isEmpty }
    if drafts > 0 { lines.append(StyledLine(drafts == 1 ? "1 draft" : "\(drafts) drafts", .warn)) }
    return lines
  }

  /// The rows that are loaded, which are there whatever can still be read; nil while the file is there too.
  var loadedChoice: ExportChoice? {
    guard fileGone != nil, !isTree else { return nil }
    let screen = lists[active]
    let records = screen.content.sections.flatMap(\.rows).compactMap { screen.records[$0] }
    if records.isEmpty { return nil }
    return ExportChoice(
      word: "loaded", title: records.count == 1 ? "the row here" : "the \(records.count) rows here",
      source: .records(records, columns: screen.definition.exportColumns))
  }
}

extension PaletteCommand {
  /// What saves the whole database.
  static let saveCopy = PaletteCommand(
    name: "save-copy", hint: "FILE",
    description: "save the whole database to a new file, also if its own is gone", argument: .text,
    run: { state, text in
      let file = text.trimmingSpaces
      if file.isEmpty || file.hasSuffix("/") { return "name a file" }
      state.ask(.saveCopy(file), for: .saveCopy)
      state.say(.info, "saving a copy to \(file)")
      return nil
    })
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
