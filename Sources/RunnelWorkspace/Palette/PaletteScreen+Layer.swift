import RunnelBase
import RunnelTerminal

// The palette as a layer.

extension PaletteScreen: MenuLayer {
  var layer: Layer { .palette(self) }
  var summary: String { "palette \(editor.text)" }

  func contexts(about hand: AtHand) -> [KeymapContext] { PaletteCommands.table.contexts }

  func choicesArea(in layout: AppLayout) -> Rect {
    PaletteDrawing.rows(of: self, in: layout.panes)
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    editor.insert(text)
    isRecalling = false
    offer(in: state)
    tryTheme(in: &state)
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    change(in: &state) { screen in
      _ = screen.editor.perform(id)
      screen.isRecalling = false
    }
  }

  mutating func selectionChanged(in state: inout AppState) { tryTheme(in: &state) }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    PaletteDrawing(self, screen.layout.panes).draw(into: &canvas)
  }

  /// Changes the palette, and updates its items if the text was changed.
  mutating func change(in state: inout AppState, _ body: (inout PaletteScreen) -> Void) {
    let old = editor.text
    body(&self)
    if editor.text != old { offer(in: state) }
    tryTheme(in: &state)
  }

  /// Shows the items that match the typed text.
  mutating func offer(in state: AppState) {
    (problem, refused) = (nil, nil)
    let place = state.below
    switch PaletteInput(editor.text) {
    case .words(let words):
      menu = MenuList(
        PaletteScreen.actionItems(place) + PaletteScreen.commandItems(place), pattern: words)
      // The full name of a command selects that command.
      if let command = PaletteCommand.named(words) { menu.select(command.deed.id) }
    case .path(let text): menu = MenuList(PaletteScreen.pathItems(place, text))
    case .command(let command, let argument):
      let pattern = command.argument.isChoice ? argument : ""
      menu = MenuList(PaletteScreen.items(place, of: command, argument), pattern: pattern)
    }
  }

  /// Shows the selected theme at once.
  func tryTheme(in state: inout AppState) {
    guard case .command(let command, _) = PaletteInput(editor.text), command.name == "theme",
      case .run(let line)? = menu.selected?.deed,
      case .command(_, let name) = PaletteInput(line),
      let chosen = ThemeChoice(name, custom: state.settings.themes)
    else { return PaletteCommand.show(&state, theme) }
    PaletteCommand.show(&state, chosen)
  }
}
