package import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The search in the lines of a list: the cursor jumps to a match while the user types.

extension SearchScreen {
  /// Changes the list that is searched: that of a layer over the view, or else of the tab.
  static func withSearchedList(
    _ state: inout AppState, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    if let index = searchedLayer(state), state.withLayerList(at: index, body) { return }
    state.withList(body)
  }

  /// The index of the layer whose list is searched, or nil for the list of the tab.
  private static func searchedLayer(_ state: AppState) -> Int? {
    let index = state.layers.lastIndex { if case .search = $0 { false } else { true } }
    return index.flatMap { state.layers[$0].listed == nil ? nil : $0 }
  }

  static func openSearch(_ state: inout AppState) {
    var list: ListState?
    withSearchedList(&state) { state, _, _ in list = state }
    guard let list else { return }
    let before = SearchOrigin(list: list, text: state.trail.search, place: state.place)
    state.layers.append(
      .search(
        SearchScreen(
          editor: LineEditor(), before: before,
          past: state.trail.searches.adding(state.trail.unfinished.search))))
    state.trail.search = nil
    FilterScreen.fitList(&state)
  }

  /// Leaves the search, and restores the list as it was.
  static func cancelSearch(_ state: inout AppState) {
    guard case .search(let screen)? = state.layers.last else { return }
    state.trail.unfinished.note(screen)
    state.trail.search = screen.before.text
    restoreList(&state, screen.before.list)
    FilterScreen.closePrompt(&state)
  }

  /// Leaves the search at the match.
  static func acceptSearch(_ state: inout AppState) {
    guard case .search(let screen)? = state.layers.last else { return }
    let text = screen.editor.text
    state.trail.searches.add(text)
    state.trail.unfinished.search = ""
    // An empty line repeats the last search.
    state.trail.search = text.isEmpty ? state.trail.searches.entries.last : text
    FilterScreen.closePrompt(&state)
    if screen.before.place != state.place { state.trail.places.note(screen.before.place) }
    if text.isEmpty {
      if !state.refuses(SharedCommands.reasonNotSearched(state)) { findNext(&state, 1) }
    } else if let match = matchOutOfSight(state) {
      state.say(.info, match)
    }
  }

  /// Recalls an earlier or later search.
  static func recallSearch(_ state: inout AppState, _ direction: ActionID) {
    guard case .search(var screen)? = state.layers.last,
      let other = screen.past.recall(direction, from: screen.editor.text)
    else { return }
    screen.editor.replaceText(other)
    screen.searchWhileTyping(in: &state)
    state.layers[state.layers.count - 1] = .search(screen)
  }

  /// Goes a number of matches forward, or back if negative.
  static func findNext(_ state: inout AppState, _ count: Int) {
    guard let text = state.trail.search ?? state.trail.searches.entries.last else { return }
    state.trail.search = text
    var outcome = SearchOutcome.none
    for _ in 0..<min(abs(count), 1000) {
      outcome = max(outcome, find(&state, text, from: 1, by: count < 0 ? -1 : 1))
    }
    let way: String? =
      switch outcome {
      case .none, .found: nil
      case .wrapped:
        count < 0 ? "the search went on at the bottom" : "the search went on at the top"
      case .alone: "this is the only row with \(text)"
      }
    let words = [way, outcome == .none ? nil : matchOutOfSight(state)].compactMap(\.self)
    if !words.isEmpty { state.say(.info, words.joined(separator: " · ")) }
  }

  static func restoreList(_ state: inout AppState, _ saved: ListState) {
    withSearchedList(&state) { list, content, height in
      list = saved
      list.resize(toHeight: height, in: content)
    }
  }

  /// Moves the cursor to the first row in a direction that contains a text, from `offset` rows
  /// beyond the cursor on; the end is followed by the beginning.
  ///
  /// O(n). Rows in folded sections are skipped.
  static func find(
    _ state: inout AppState, _ text: String, from offset: Int, by step: Int
  ) -> SearchOutcome {
    let isFound = rowTest(state, text)
    var found: String?
    var outcome = SearchOutcome.none
    withSearchedList(&state) { list, content, height in
      let folded = list.folded
      let ids = content.sections.filter { !folded.contains($0.id) }.flatMap(\.rows)
      guard !ids.isEmpty else { return }
      var start = list.cursorIndex(in: ids, content, isForward: step > 0)
      if ids.indices.contains(start), list.cursor == .row(ids[start]) { start += offset * step }
      for count in ids.indices {
        let index = ((start + count * step) % ids.count + ids.count) % ids.count
        guard isFound(ids[index]) else { continue }
        found = ids[index]
        outcome =
          index == start + count * step ? .found : .wrapped
        if count == ids.count - 1, offset > 0, list.cursor == .row(ids[index]) { outcome = .alone }
        break
      }
      if let found { list.moveTo(.row(found), in: content, height: height) }
    }
    // What was said about an earlier search is not true of this one.
    if found != nil, state.toast?.toast.kind == .info { state.toast = nil }
    if found == nil { state.say(.info, noMatchText(state, text)) }
    return outcome
  }

  /// The message that no row has a text; it says how the rows that are not loaded are searched.
  private static func noMatchText(_ state: AppState, _ text: String) -> String {
    guard searchedLayer(state) == nil, let list = state.tabs.frontList, !list.isComplete else {
      return "\(text) is not in the rows here"
    }
    let words = "\(text) is not in the rows that are loaded"
    let filter = KeyText.listKeys(state).hint(.filterEdit, "searches all", after: ": ")
    return words + filter + " · :go KEY goes to one"
  }

  /// Returns words about the match in the row under the cursor if the screen cuts it off, or nil if
  /// it is visible.
  private static func matchOutOfSight(_ state: AppState) -> String? {
    let (list, _) = state.listInFront
    guard let search = state.trail.search, case .row(let id)? = list.cursor else { return nil }
    let seen = seenText(state, ofRow: id, list)
    if seen.isEmpty || SearchText(search).isFound(in: seen) { return nil }
    if searchedLayer(state) == nil, let screen = state.tabs.frontList {
      if isInDetail(state, search) { return nil }
      if let (field, text) = screen.field(with: search, ofRow: id),
        let part = excerpt(state, of: text, around: search)
      {
        return field.isEmpty ? "out of sight in this row: \(part)" : "in \(field): \(part)"
      }
    }
    return excerpt(state, of: rowTexts(state)(id), around: search)
      .map { "out of sight in this row: \($0)" }
  }

  /// Whether the detail pane beside the list shows a text.
  private static func isInDetail(_ state: AppState, _ text: String) -> Bool {
    let rect = state.layout.detail
    if rect.isEmpty { return false }
    let lines = DetailDrawing(state, glyphs: .unicode)
      .lines(width: DetailDrawing.textWidth(rect))
    let top = min(Panes.detailTop(state), max(lines.count - rect.height, 0))
    // Of more lines, the last one only tells how many there are.
    let end = lines.count - top > rect.height ? top + rect.height - 1 : lines.count
    let sought = SearchText(text)
    return (top..<end).contains { sought.isFound(in: lines[$0].text) }
  }

  /// Returns the visible text of a row of the list in front; empty if it is not known.
  private static func seenText(_ state: AppState, ofRow id: String, _ list: ListState) -> String {
    let glyphs = Glyphs.unicode
    let width = max(state.layout.body.width - 1, 0)
    let line: StyledLine
    if let layer = searchedLayer(state).flatMap({ state.layers[$0].listed }) {
      let column = layer.textColumn(ofRow: id, width: state.layout.body.width)
      guard let column else { return "" }
      line = StyledLine(String(repeating: " ", count: column) + layer.text(ofRow: id))
    } else if let screen = state.tabs.frontList {
      guard let record = screen.records[id] else { return "" }
      line = RowText.rowText(state, of: screen, glyphs)
        .line(for: record, state: RowText.State(), width: width + list.horizontalOffset)
    } else {
      line = TreeText(
        tree: state.tabs.tree, local: state.settings.local, glyphs: glyphs,
        keys: KeyText.treeKeys(state), pageSize: state.settings.pageSize
      )
      .line(id: id, width: width + list.horizontalOffset)
    }
    var left = width
    return String(
      line.dropping(columns: list.horizontalOffset, glyphs: glyphs).text.prefix { character in
        left -= CellWidth.width(of: character)
        return left >= 0
      })
  }

  /// Returns the part of a text around another text that it contains, or nil.
  private static func excerpt(_ state: AppState, of text: String, around sought: String) -> String?
  {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let lowered = line.lowercased()
    guard lowered.count == line.count, let range = lowered.firstRange(of: sought.lowercased())
    else {
      return nil
    }
    let place = lowered.distance(from: lowered.startIndex, to: range.lowerBound)
    let first = max(place - excerptCharacters, 0)
    let part = line.dropFirst(first)
      .prefix(place - first + sought.count + excerptCharacters)
    let isEnd = first + part.count == line.count
    return (first > 0 ? "..." : "") + part + (isEnd ? "" : "...")
  }

  /// The number of characters shown before and after a match.
  private static let excerptCharacters = 16

  /// Returns a function that gives the text of a row of the list in front.
  private static func rowTexts(_ state: AppState) -> (String) -> String {
    if let layer = searchedLayer(state).flatMap({ state.layers[$0].listed }) {
      return { layer.text(ofRow: $0) }
    }
    guard let screen = state.tabs.frontList else {
      let tree = state.tabs.tree
      return { tree.text(ofRow: $0) }
    }
    return { screen.text(ofRow: $0) }
  }

  /// Returns a function that tells whether a row of the list in front contains a text: what it shows, or a
  /// field of its record that is no column.
  private static func rowTest(_ state: AppState, _ text: String) -> (String) -> Bool {
    let (sought, texts) = (SearchText(text), rowTexts(state))
    guard searchedLayer(state) == nil, let screen = state.tabs.frontList else {
      return { sought.isFound(in: texts($0)) }
    }
    return { id in
      sought.isFound(in: texts(id))
        || screen.records[id]?.row.node?.hasText(where: sought.isFound) == true
    }
  }
}

/// The outcome of a search; greater outcomes need more words.
enum SearchOutcome: Int, Comparable {
  case none
  case found
  /// A match was found beyond the end, from the beginning.
  case wrapped
  /// The only match is at the cursor.
  case alone

  package static func < (left: SearchOutcome, right: SearchOutcome) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The state of a list when a search began.
package struct SearchOrigin: Hashable, Sendable {
  package var list: ListState
  /// The text of the search before, or nil.
  package var text: String?
  /// The place where the search began.
  package var place: Place
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
  /// Returns the text of a row, without its layout.
  package func text(ofRow id: String) -> String {
    guard let record = records[id] else { return "" }
    return definition.columns.map { column in
      let node = column.field.node(key: record.row.key, record.row.node ?? .empty)
      return node.isEmpty ? "" : FieldKind.text(of: node.json)
    }.joined(separator: " ")
  }
}

extension ListScreen {
  /// Returns the first field of a record that contains a text, and what it holds; nil if none does.
  ///
  /// O(n) in the record.
  fileprivate func field(
    with text: String, ofRow id: String
  ) -> (field: String, text: String)? {
    let sought = SearchText(text)
    return records[id]?.row.node?.firstText(below: []) { sought.isFound(in: $0) }
  }
}

extension RunnelTree.Node {
  fileprivate func firstText(
    below names: [String], where test: (String) -> Bool
  ) -> (field: String, text: String)? {
    switch leaf {
    case .string(let text)?:
      return test(text) ? (names.joined(separator: "/"), text) : nil
    case .bool?, .number?: return nil
    case nil:
      for child in children {
        let name = WritableKey.name(of: child.key.text)
        if let found = child.node.firstText(below: names + [name], where: test) { return found }
      }
      return nil
    }
  }
}

extension TreeScreen {
  /// Returns the name and the value of a line.
  package func text(ofRow id: String) -> String {
    guard case .node(_, let row, _)? = lines[id] else { return "" }
    let name = WritableKey.name(of: row.key.text)
    if case .leaf(let leaf) = row.summary.kind { return "\(name) \(leaf.json.jsonText())" }
    return name
  }
}
