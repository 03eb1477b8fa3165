import RunnelTerminal

// The line that composes a record, below its list.

extension AppScreen {
  /// The widest name before the line that composes a record.
  private static let writerWidth = 20

  /// The user as people know them: the id of an account is known to rules only.
  private var writer: String {
    let me = state.database.me
    let account = state.database.accounts?.current.flatMap { $0.id == me ? $0 : nil }
    let name = account?.name.flatMap { $0.isEmpty ? nil : $0 } ?? account?.title ?? me
    return CellWidth.width(of: name) <= AppScreen.writerWidth
      ? name : CellText.fitted(name, to: AppScreen.writerWidth, isRight: false, glyphs: glyphs)
  }

  /// Draws the line, with the writer before it.
  func drawComposer(_ composer: ComposeScreen, into canvas: inout Canvas) {
    let (top, bottom) = layout.composer.splitTop(layout.composer.height > 1 ? 1 : 0)
    if !top.isEmpty { rule(top, into: &canvas) }
    if let error = composer.error {
      // Without a rule, the error takes the end of the list.
      let place = Position(row: bottom.row - 1, column: 2)
      canvas.put(
        " \(glyphs.conflict) \(error) ", at: place, width: max(top.width - 4, 0), role: .error)
    }
    let label =
      ComposeScreen.isSending(state, inView: composer.view)
      ? " \(glyphs.loading)" : " \(writer)"
    composer.editor.draw(into: &canvas, rect: bottom, label: label)
  }
}
