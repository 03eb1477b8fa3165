import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Looking for a text in the lines of a list: the cursor jumps while one types.

extension AppState {
  /// Searches, or goes on; false if the action is none of that.
  mutating func performSearching(_ action: ActionID, _ count: Int) -> Bool {
    switch action {
    case .searchStart: openSearch()
    case .searchNext, .searchPrevious:
      if !refuses(action) { findNext(action == .searchNext ? count : -count) }
    default: return false
    }
    return true
  }

  /// The list that is searched: of a record or of the last actions if that is in front, else of the
  /// tab.
  mutating func withSearchedList(_ body: (inout ListState, ListContent, _ height: Int) -> Void) {
    let height = height
    for index in layers.indices.reversed() {
      switch layers[index] {
      case .search: continue
      case .record(var screen):
        body(&screen.list, screen.content, height)
        layers[index] = .record(screen)
        return
      case .debug(var screen):
        body(&screen.list, screen.content, height)
        layers[index] = .debug(screen)
        return
      default: return withList(body)
      }
    }
    withList(body)
  }

  private mutating func openSearch() {
    var list: ListState?
    withSearchedList { state, _, _ in list = state }
    guard let list else { return }
    let before = SearchOrigin(list: list, text: search, place: place)
    layers.append(
      .search(
        SearchScreen(editor: LineEditor(), before: before, past: searchHistory)))
    search = nil
    fitList()
  }

  mutating func performInSearch(_ action: ActionID) {
    guard case .search(var screen)? = layers.last else { return }
    let old = screen.editor.text
    switch action {
    case .inputCancel:
      search = screen.before.text
      restore(screen.before.list)
      return closePrompt()
    case .inputAccept, .formSave:
      let text = screen.editor.text
      searchHistory.add(text)
      // An empty line looks for what was looked for last.
      search = text.isEmpty ? searchHistory.entries.last : text
      closePrompt()
      if screen.before.place != place { places.note(screen.before.place) }
      if text.isEmpty, !refuses(.searchNext) { findNext(1) }
      return
    case .inputPrevious, .inputNext:
      guard let other = screen.past.recall(action, from: old) else { return }
      screen.editor.replaceText(other)
    default: _ = screen.editor.perform(action)
    }
    layers[layers.count - 1] = .search(screen)
    if screen.editor.text != old { searchWhileTyping() }
  }

  /// Goes to the first match from where the search began, or back there.
  mutating func searchWhileTyping() {
    guard case .search(let screen)? = layers.last else { return }
    search = screen.editor.isEmpty ? nil : screen.editor.text
    restore(screen.before.list)
    if let search { find(search, from: 0, by: 1) }
  }

  /// Goes to the match so many further on, or back if negative.
  mutating func findNext(_ count: Int) {
    guard let text = search ?? searchHistory.entries.last else { return }
    search = text
    for _ in 0..<min(abs(count), 1000) { find(text, from: 1, by: count < 0 ? -1 : 1) }
  }

  private mutating func restore(_ saved: ListState) {
    withSearchedList { list, content, height in
      list = saved
      list.resize(toHeight: height, in: content)
    }
  }

  /// Goes to the first row that contains a text, from so many rows beyond the cursor on, in a
  /// direction; after the end from the beginning.
  ///
  /// O(n): rows that are folded away are passed over.
  private mutating func find(_ text: String, from offset: Int, by step: Int) {
    let needle = SearchText(text)
    let texts = rowTexts
    var found: String?
    withSearchedList { list, content, height in
      let folded = list.folded
      let ids = content.sections.filter { !folded.contains($0.id) }.flatMap(\.rows)
      guard !ids.isEmpty else { return }
      var start = list.cursorIndex(in: ids, content, isForward: step > 0)
      if ids.indices.contains(start), list.cursor == .row(ids[start]) { start += offset * step }
      for count in ids.indices {
        let index = ((start + count * step) % ids.count + ids.count) % ids.count
        guard needle.isFound(in: texts(ids[index])) else { continue }
        found = ids[index]
        break
      }
      if let found { list.moveTo(.row(found), in: content, height: height) }
    }
    if found == nil { say(.info, "\(text) is not in the rows that are loaded") }
  }

  /// What a row of the list in front reads as.
  private var rowTexts: (String) -> String {
    for layer in layers.reversed() {
      switch layer {
      case .search: continue
      case .record(let screen): return { screen.text(ofRow: $0) }
      case .debug(let screen): return { screen.lines[$0]?.text ?? "" }
      default: break
      }
      break
    }
    if isTree {
      let tree = tree
      return { tree.text(ofRow: $0) }
    }
    let screen = lists[active]
    return { screen.text(ofRow: $0) }
  }
}

/// A list as it was when a search began.
struct SearchOrigin: Hashable, Sendable {
  var list: ListState
  /// What was looked for before.
  var text: String?
  /// Where that was.
  var place: Place
}

extension ListState {
  /// The index of the cursor's row, or of the next row in a direction if it is on a header.
  fileprivate func cursorIndex(
    in ids: [String], _ content: ListContent, isForward: Bool
  ) -> Int {
    switch cursor {
    case .row(let id): return ids.firstIndex(of: id) ?? 0
    case .header(let id):
      let index = content.index(ofSection: id) ?? 0
      let before = content.sections[..<index].reduce(0) {
        $0 + (folded.contains($1.id) ? 0 : $1.rows.count)
      }
      return isForward ? before : before - 1
    case nil: return 0
    }
  }
}

extension ListScreen {
  /// What a row shows, without its layout.
  func text(ofRow id: String) -> String {
    guard let record = records[id] else { return "" }
    return definition.columns.map { column in
      let node = column.field.node(key: record.row.key, record.row.node ?? .empty)
      return node.isEmpty ? "" : FieldKind.text(of: node.json)
    }.joined(separator: " ")
  }
}

extension RecordScreen {
  /// The name and the value of a field.
  func text(ofRow id: String) -> String {
    guard let field = fields[id] else { return "" }
    let value = field.leaf.map { FieldKind.text(of: $0.json) } ?? ""
    return "\(field.path.text) \(value)"
  }
}

extension TreeScreen {
  /// The name and the value of a line.
  func text(ofRow id: String) -> String {
    guard case .node(_, let row, _)? = lines[id] else { return "" }
    if case .leaf(let leaf) = row.summary.kind { return "\(row.key.text) \(leaf.json.jsonText())" }
    return row.key.text
  }
}
