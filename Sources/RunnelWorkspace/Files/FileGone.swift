import RunnelBase
import RunnelTerminal

// The loss of the database file while the workspace is open: it was deleted, moved, replaced or
// truncated. Nothing is written any more. What is shown and typed stays, and can be saved
// elsewhere.

/// The loss of the database file, and whether its content was saved.
package struct FileGone: Hashable, Sendable {
  /// What was lost.
  package enum Part: String, Hashable, Sendable {
    /// The file.
    case file
    /// A file beside it, such as its log; what is open can be read as a whole.
    case companion
    /// A part of what was saved, which cannot be read any more.
    case content
  }

  /// The message: what happened, and what the user can do.
  package var message: String
  /// What was lost.
  var part = Part.file
  /// Whether all that could be read was saved to another file since.
  var isCopied = false
}

extension FileGone {
  /// The loss in a few words: the file itself is gone, or is there and not written.
  package var words: String { part == .file ? "the file is gone" : "nothing is saved" }

  /// The loss in a word.
  package var word: String { part == .file ? "gone" : "not saved" }

  /// The reason why nothing is written any more, or nil while the file exists.
  static func reasonGone(_ state: AppState) -> String? {
    guard let gone = state.database.fileGone else { return nil }
    let what =
      switch gone.part {
      case .file: "the file is gone"
      case .companion: "the file's log was lost"
      case .content: "a part of what was saved is lost"
      }
    return "\(what): nothing is written any more"
  }

  /// The message shown while there is no other one, or nil while the file exists.
  static func lossToast(_ state: AppState) -> Toast? {
    guard let fileGone = state.database.fileGone, !state.input.matcher.isPending,
      state.input.awaited == nil
    else { return nil }
    if fileGone.isCopied { return Toast(.warning, "\(fileGone.words); a copy was saved") }
    // The ways to save come first, because there may be no room for the rest.
    return Toast(
      .error, "nothing is saved now · \(waysOut(state)). \(fileGone.message)")
  }

  /// Words that tell how the content can be saved.
  static func waysOut(_ state: AppState) -> String {
    let keys = KeyText.listKeys(state).hint(.dataExport, "exports this view", after: " · ")
    if state.database.fileGone?.part == .content {
      // A copy of all needs what is lost.
      let exports = KeyText.listKeys(state).hint(.dataExport, "exports this view", after: "")
      return exports.isEmpty ? ":export FILE saves this view" : exports
    }
    return ":\(PaletteCommand.saveCopy.name) FILE saves all\(keys)"
  }

  /// Notes that the file is gone.
  static func lose(_ state: inout AppState, _ message: String, _ part: Part) {
    let isCopied = state.database.fileGone?.isCopied ?? false
    state.database.fileGone = FileGone(message: message, part: part, isCopied: isCopied)
    // An earlier message of success would be taken for a current one.
    state.toast = nil
  }

  /// Notes that the file is at its place again as it was.
  static func regain(_ state: inout AppState) {
    state.database.fileGone = nil
    let words = "the file is back as it was, and is written again"
    let refused = state.writes.queue.refused.count
    if refused == 0 { return state.say(.info, words) }
    let writes = refused == 1 ? "1 refused write" : "\(refused) refused writes"
    state.say(.warning, state.phrase("\(words), without \(writes)", .syncOpen, "lists them"))
  }

  /// Notes that the whole database was saved to a file.
  static func noteCopy(_ state: inout AppState, _ file: String, bytes: Int) {
    state.database.fileGone?.isCopied = true
    let refused = state.writes.queue.refused.count
    let rest =
      refused == 0
      ? "" : "; \(refused == 1 ? "a refused write is" : "\(refused) refused writes are") not in it"
    state.say(.info, "saved all, \(ByteCount.text(bytes)), to \(file)\(rest)")
  }

  /// Returns the choice to export the loaded rows, which need no file; nil while the file exists or
  /// if no rows are loaded.
  static func loadedChoice(_ state: AppState) -> ExportChoice? {
    guard state.database.fileGone != nil, let screen = state.tabs.frontList else { return nil }
    let records = screen.content.sections.flatMap(\.rows).compactMap { screen.records[$0] }
    if records.isEmpty { return nil }
    return ExportChoice(
      word: "loaded", title: records.count == 1 ? "the row here" : "the \(records.count) rows here",
      source: .records(records, columns: screen.definition.exportColumns))
  }
}
