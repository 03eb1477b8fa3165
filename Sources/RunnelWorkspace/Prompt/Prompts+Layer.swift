import RunnelBase
import RunnelTerminal

// The lines for typing below the list, as layers.

extension ComposeScreen: TextLayer {
  var layer: Layer { .compose(self) }
  var summary: String { "composer" }
  var extent: LayerExtent { .line }
  var holdsInput: Bool { true }

  func contexts(about hand: AtHand) -> [KeymapContext] { ComposeCommands.table.contexts }

  /// Inserts typed text; it replaces a returned text that was not edited.
  mutating func insert(_ text: String, in state: inout AppState) {
    error = nil
    if isReturned { (editor, attempt, isReturned) = (ComposeScreen.editor(), nil, false) }
    editor.insert(text)
    showDraft(in: &state)
  }

  /// Edits the line as a text field does, or recalls an earlier sent text.
  mutating func editText(_ id: ActionID, in state: inout AppState) {
    error = nil
    let old = editor.text
    let isPerformed = editor.perform(id)
    isReturned = false
    // After the returned text was deleted, a new text belongs to no refused record.
    if editor.isEmpty { attempt = nil }
    if !isPerformed, let recalled = state.tabs.lists[view].line.sent.recall(id, from: old) {
      editor.replaceText(recalled)
    }
    if editor.text != old { showDraft(in: &state) }
  }

  mutating func showError(_ message: String) { error = message }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawComposer(self, into: &canvas)
  }
}

extension FilterScreen: TextLayer {
  var layer: Layer { .filter(self) }
  var summary: String { "filter \(editor.text)" }
  var extent: LayerExtent { .bar }
  var holdsInput: Bool { true }

  func contexts(about hand: AtHand) -> [KeymapContext] { FilterCommands.table.contexts }

  mutating func insert(_ text: String, in state: inout AppState) {
    if isKept, text.first != " " { editor.replaceText("") }
    isKept = false
    editor.insert(text)
    candidates = []
    refilter(in: &state)
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    isKept = false
    _ = editor.perform(id)
    refilter(in: &state)
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    PromptDrawing(screen.state, screen.layout.composer).draw(self, into: &canvas)
  }
}

extension SearchScreen: TextLayer {
  var layer: Layer { .search(self) }
  var summary: String { "search \(editor.text)" }
  var extent: LayerExtent { .line }
  var holdsInput: Bool { true }
  var showsListBelow: Bool { true }

  func contexts(about hand: AtHand) -> [KeymapContext] { SearchCommands.table.contexts }

  mutating func insert(_ text: String, in state: inout AppState) {
    editor.insert(text)
    searchWhileTyping(in: &state)
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    let old = editor.text
    _ = editor.perform(id)
    if editor.text != old { searchWhileTyping(in: &state) }
  }

  /// Moves the cursor to the first match from the start of the search, or back to the start.
  func searchWhileTyping(in state: inout AppState) {
    state.trail.search = editor.isEmpty ? nil : editor.text
    SearchScreen.restoreList(&state, before.list)
    if let search = state.trail.search { _ = SearchScreen.find(&state, search, from: 0, by: 1) }
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    PromptDrawing(screen.state, screen.layout.composer).draw(self, into: &canvas)
  }
}
