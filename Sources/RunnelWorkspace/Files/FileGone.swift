import RunnelBase
import RunnelTerminal

// The file of the database is gone while the workspace is open: deleted, moved, replaced or cut off. Nothing
// is written any more, what is seen and typed stays, and may be saved elsewhere.

/// What became of the file, and of what it held.
package struct FileGone: Hashable, Sendable {
  /// What happened and what to do.
  package var message: String
  /// Whether all that could be read was saved elsewhere since.
  var isCopied = false
}

extension FileGone {
  /// The reason why nothing is written any more; nil while the file is there.
  static func reasonGone(_ state: AppState) -> String? {
    state.database.fileGone == nil ? nil : "the file is gone: nothing is written any more"
  }

  /// The message shown while there is no other one.
  static func lossToast(_ state: AppState) -> Toast? {
    guard let fileGone = state.database.fileGone, !state.input.matcher.isPending,
      state.input.awaited == nil
    else { return nil }
    if fileGone.isCopied { return Toast(.warning, "the file is gone; a copy was saved") }
    // What is done about it comes first: there may be no room for the rest.
    return Toast(.error, "Nothing is saved any more: \(waysOut(state)). \(fileGone.message)")
  }

  /// How what is open is saved.
  static func waysOut(_ state: AppState) -> String {
    let name = PaletteCommand.saveCopy.name
    return state.phrase(
      "`\(name) FILE` saves all that can be read", .dataExport, "exports this view")
  }

  /// The file is gone.
  static func lose(_ state: inout AppState, _ message: String) {
    state.database.fileGone = FileGone(message: message)
    // Words of success that are still there would be taken for those of now.
    state.toast = nil
  }

  /// The whole database was saved to a file.
  static func noteCopy(_ state: inout AppState, _ file: String, bytes: Int) {
    state.database.fileGone?.isCopied = true
    let refused = state.writes.queue.refused.count
    let rest =
      refused == 0
      ? "" : "; \(refused == 1 ? "a refused write is" : "\(refused) refused writes are") not in it"
    state.say(.info, "saved all, \(ByteCount.text(bytes)), to \(file)\(rest)")
  }

  /// The rows that are loaded, which are there whatever can still be read; nil while the file is there too.
  static func loadedChoice(_ state: AppState) -> ExportChoice? {
    guard state.database.fileGone != nil, !state.tabs.isTree else { return nil }
    let screen = state.tabs.front
    let records = screen.content.sections.flatMap(\.rows).compactMap { screen.records[$0] }
    if records.isEmpty { return nil }
    return ExportChoice(
      word: "loaded", title: records.count == 1 ? "the row here" : "the \(records.count) rows here",
      source: .records(records, columns: screen.definition.exportColumns))
  }
}

extension PaletteCommand {
  /// What saves the whole database.
  package static let saveCopy = PaletteCommand(
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
