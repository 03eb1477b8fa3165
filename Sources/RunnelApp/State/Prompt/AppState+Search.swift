import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Looking for a text in the lines of a list: the cursor jumps while one types.

extension AppState {
  /// The list that is searched: of what lies over the view, else of the tab.
  mutating func withSearchedList(_ body: (inout ListState, ListContent, _ height: Int) -> Void) {
    if let index = searchedLayer, withLayerList(at: index, body) { return }
    withList(body)
  }

  /// The index of the layer whose list is searched; nil for the list of the tab.
  private var searchedLayer: Int? {
    let index = layers.lastIndex { if case .search = $0 { false } else { true } }
    return index.flatMap { layers[$0].listed == nil ? nil : $0 }
  }

  mutating func openSearch() {
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

  /// Leaves the search, and goes back to where it began.
  mutating func cancelSearch() {
    guard case .search(let screen)? = layers.last else { return }
    search = screen.before.text
    restore(screen.before.list)
    closePrompt()
  }

  /// Leaves the search at the match.
  mutating func acceptSearch() {
    guard case .search(let screen)? = layers.last else { return }
    let text = screen.editor.text
    searchHistory.add(text)
    // An empty line looks for what was looked for last.
    search = text.isEmpty ? searchHistory.entries.last : text
    closePrompt()
    if screen.before.place != place { places.note(screen.before.place) }
    if text.isEmpty {
      if !refuses(reasonNotSearched) { findNext(1) }
    } else if let match = matchOutOfSight {
      say(.info, match)
    }
  }

  /// Goes through what was looked for before.
  mutating func recallSearch(_ direction: ActionID) {
    guard case .search(var screen)? = layers.last,
      let other = screen.past.recall(direction, from: screen.editor.text)
    else { return }
    screen.editor.replaceText(other)
    layers[layers.count - 1] = .search(screen)
    searchWhileTyping()
  }

  /// Goes to the first match from where the search began, or back there.
  mutating func searchWhileTyping() {
    guard case .search(let screen)? = layers.last else { return }
    search = screen.editor.isEmpty ? nil : screen.editor.text
    restore(screen.before.list)
    if let search { _ = find(search, from: 0, by: 1) }
  }

  /// Goes to the match so many further on, or back if negative.
  mutating func findNext(_ count: Int) {
    guard let text = search ?? searchHistory.entries.last else { return }
    search = text
    var outcome = SearchOutcome.none
    for _ in 0..<min(abs(count), 1000) {
      outcome = max(outcome, find(text, from: 1, by: count < 0 ? -1 : 1))
    }
    let way: String? =
      switch outcome {
      case .none, .found: nil
      case .wrapped:
        count < 0 ? "the search went on at the bottom" : "the search went on at the top"
      case .alone: "this is the only row with \(text)"
      }
    let words = [way, outcome == .none ? nil : matchOutOfSight].compactMap(\.self)
    if !words.isEmpty { say(.info, words.joined(separator: " · ")) }
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
  private mutating func find(_ text: String, from offset: Int, by step: Int) -> SearchOutcome {
    let needle = SearchText(text)
    let texts = rowTexts
    var found: String?
    var outcome = SearchOutcome.none
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
        outcome =
          index == start + count * step ? .found : .wrapped
        if count == ids.count - 1, offset > 0, list.cursor == .row(ids[index]) { outcome = .alone }
        break
      }
      if let found { list.moveTo(.row(found), in: content, height: height) }
    }
    if found == nil { say(.info, "\(text) is not in the rows that are loaded") }
    return outcome
  }

  /// Where the match is in the row under the cursor, if the screen cuts it off; nil if it is seen.
  private var matchOutOfSight: String? {
    let (list, _) = listInFront
    guard let search, case .row(let id)? = list.cursor else { return nil }
    let seen = seenText(ofRow: id, list)
    if seen.isEmpty || SearchText(search).isFound(in: seen) { return nil }
    return excerpt(of: rowTexts(id), around: search).map { "out of sight in this row: \($0)" }
  }

  /// What the screen shows of a row of the list in front; empty if that is not known.
  private func seenText(ofRow id: String, _ list: ListState) -> String {
    let glyphs = Glyphs.unicode
    let width = max(layout.body.width - 1, 0)
    let line: StyledLine
    if let layer = searchedLayer.flatMap({ layers[$0].listed }) {
      guard let column = layer.textColumn(ofRow: id) else { return "" }
      line = StyledLine(String(repeating: " ", count: column) + layer.text(ofRow: id))
    } else if isTree {
      line = TreeText(tree: tree, local: local, glyphs: glyphs, keys: treeKeys, pageSize: pageSize)
        .line(id: id, width: width + list.horizontalOffset)
    } else {
      guard let record = lists[active].records[id] else { return "" }
      line = rowText(of: lists[active], glyphs)
        .line(for: record, state: RowText.State(), width: width + list.horizontalOffset)
    }
    var left = width
    return String(
      line.dropping(columns: list.horizontalOffset, glyphs: glyphs).text.prefix { character in
        left -= CellWidth.width(of: character)
        return left >= 0
      })
  }

  /// The words of a text around the place where another one is found.
  private func excerpt(of text: String, around sought: String) -> String? {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let lowered = line.lowercased()
    guard lowered.count == line.count, let range = lowered.firstRange(of: sought.lowercased())
    else {
      return nil
    }
    let place = lowered.distance(from: lowered.startIndex, to: range.lowerBound)
    let first = max(place - AppState.excerptCharacters, 0)
    let part = line.dropFirst(first)
      .prefix(place - first + sought.count + AppState.excerptCharacters)
    let isEnd = first + part.count == line.count
    return (first > 0 ? "..." : "") + part + (isEnd ? "" : "...")
  }

  /// How much of a row is told before a match and after it.
  private static let excerptCharacters = 16

  /// What a row of the list in front reads as.
  private var rowTexts: (String) -> String {
    if let layer = searchedLayer.flatMap({ layers[$0].listed }) { return { layer.text(ofRow: $0) } }
    if isTree {
      let tree = tree
      return { tree.text(ofRow: $0) }
    }
    let screen = lists[active]
    return { screen.text(ofRow: $0) }
  }
}

/// What became of looking for a text, the more to be said about it the greater.
private enum SearchOutcome: Int, Comparable {
  case none
  case found
  /// Beyond the end, from the beginning on.
  case wrapped
  /// Where the cursor was, and nowhere else.
  case alone

  static func < (left: SearchOutcome, right: SearchOutcome) -> Bool {
    left.rawValue < right.rawValue
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

extension TreeScreen {
  /// The name and the value of a line.
  func text(ofRow id: String) -> String {
    guard case .node(_, let row, _)? = lines[id] else { return "" }
    if case .leaf(let leaf) = row.summary.kind { return "\(row.key.text) \(leaf.json.jsonText())" }
    return row.key.text
  }
}
