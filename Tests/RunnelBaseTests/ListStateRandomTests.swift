import Testing

@testable import RunnelBase

/// The state against `ListOracle`, by seed and exhaustively for small lists.
@Suite struct ListStateRandomTests {
  @Test(arguments: 0..<25 as Range<UInt64>)
  func agreesWithTheOracleInAnyOrderOfSteps(seed: UInt64) {
    var generator = ListGenerator(seed: seed)
    var list = RandomList()
    var state = ListState()
    var oracle = ListOracle()
    var height = Int.random(in: 0...8, using: &generator)
    for step in 0..<150 {
      let name = Self.step(&list, &state, &oracle, &height, &generator)
      let differences =
        state.violations(in: list.content, height: height)
        + Self.differences(state, oracle, list.content, height)
      guard differences.isEmpty else {
        let rows = list.content.sections.map { ($0.id, $0.rows) }
        Issue.record(
          """
          seed \(seed), step \(step), height \(height): \(name)
          \(differences)
          \(rows)
          \(oracle)
          """)
        return
      }
    }
  }

  private static func step(
    _ list: inout RandomList, _ state: inout ListState, _ oracle: inout ListOracle,
    _ height: inout Int, _ generator: inout ListGenerator
  ) -> String {
    let content = list.content
    let count = Int.random(in: -6...6, using: &generator)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1:
      state.move(by: count, in: content, height: height)
      oracle.move(by: count, content, max(1, height))
      return "move \(count)"
    case 2:
      state.scroll(by: count, in: content, height: height)
      oracle.scroll(by: count, content, max(1, height))
      return "scroll \(count)"
    case 3:
      height = Int.random(in: 0...8, using: &generator)
      state.resize(toHeight: height, in: content)
      oracle.resize(content, max(1, height))
      return "resize \(height)"
    case 4:
      guard let section = content.sections.randomElement(using: &generator) else { return "none" }
      state.toggleFold(section.id, in: content, height: height)
      oracle.toggleFold(section.id, content, max(1, height))
      return "fold \(section.id)"
    case 5:
      let isFollowing = Bool.random(using: &generator)
      state.isFollowing = isFollowing
      oracle.isFollowing = isFollowing
      return "follow \(isFollowing)"
    default:
      let old = list.change(using: &generator)
      let update = ListBatches.update(from: old, to: list.content)
      let newRows = ListBatches.newRows(from: old, to: list.content)
      state.apply(update, from: old, to: list.content, height: height, newRows: newRows)
      oracle.apply(update, old, list.content, max(1, height), newRows)
      return "batch from \(old.sections.map { ($0.id, $0.rows) }): \(update)"
    }
  }

  private static func differences(
    _ state: ListState, _ oracle: ListOracle, _ content: ListContent, _ height: Int
  ) -> [String] {
    var found: [String] = []
    if state.cursor != oracle.cursor {
      found.append("cursor \(String(describing: state.cursor))")
    }
    let line = oracle.lines(content).firstIndex { $0.item == oracle.cursor && $0.item != nil } ?? 0
    if !content.sections.isEmpty, state.cursorLine != line - oracle.top {
      found.append("cursor line \(state.cursorLine) instead of \(line - oracle.top)")
    }
    if state.newAbove != oracle.newAbove { found.append("above \(state.newAbove)") }
    if state.newBelow != oracle.newBelow { found.append("below \(state.newBelow)") }
    let shown = state.lines(in: content, height: height).compactMap { line in
      if case .row(let id) = line.kind { id } else { nil }
    }
    let expected = (height == 0 ? [] : oracle.visible(content, height)).compactMap { number in
      if case .item(.row(let id)) = oracle.lines(content)[number] { id } else { nil }
    }
    if shown != expected { found.append("shows \(shown) instead of \(expected)") }
    return found
  }

  /// Every insertion or deletion of one row, at every cursor and scroll position.
  @Test(arguments: 1...6)
  func oneRowChangesNeverMoveTheScreenOrLoseTheCursor(height: Int) {
    for first in 0...5 {
      for second in -1...(5 - first) {
        var sections = [("a", ListBatches.rows("a", 0..<first))]
        if second >= 0 { sections.append(("b", ListBatches.rows("b", 0..<second))) }
        let old = ListContent(
          sections: sections.map {
            ListSection(id: $0.0, rows: $0.1, emptyText: "none")
          })
        for new in Self.neighbours(of: old) { Self.check(from: old, to: new, height: height) }
      }
    }
  }

  private static func neighbours(of content: ListContent) -> [ListContent] {
    var lists: [ListContent] = []
    for section in content.sections.indices {
      for row in 0...content.sections[section].rows.count {
        var sections = content.sections
        sections[section].rows.insert("new", at: row)
        lists.append(ListContent(sections: sections))
      }
      for row in content.sections[section].rows.indices {
        var sections = content.sections
        sections[section].rows.remove(at: row)
        lists.append(ListContent(sections: sections))
      }
    }
    return lists
  }

  private static func check(from old: ListContent, to new: ListContent, height: Int) {
    let layout = ListLayout(old, folded: [])
    let update = ListBatches.update(from: old, to: new)
    let newRows = ListBatches.newRows(from: old, to: new)
    for item in 0..<layout.itemCount {
      for offset in 0..<height {
        var state = ListState()
        state.cursor = layout.item(at: layout.place(ofItem: item))
        state.cursorLine = offset
        state.resize(toHeight: height, in: old)
        var oracle = ListOracle()
        oracle.cursor = state.cursor
        oracle.top = layout.line(of: layout.place(ofItem: item)) - state.cursorLine
        let before = state

        state.apply(update, from: old, to: new, height: height, newRows: newRows)
        oracle.apply(update, old, new, height, newRows)

        let context = "\(old.sections.map(\.rows)) \(new.sections.map(\.rows)) \(before)"
        #expect(state.violations(in: new, height: height) == [], "\(context)")
        #expect(differences(state, oracle, new, height) == [], "\(context)")
        let isLong = layout.lineCount >= height && ListLayout(new, folded: []).lineCount >= height
        let top = ListLayout(new, folded: []).place(of: before.cursor ?? .header("")).map {
          ListLayout(new, folded: []).line(of: $0) - before.cursorLine
        }
        if isLong, let top, top >= 0, top <= ListLayout(new, folded: []).lineCount - height {
          #expect(state.cursorLine == before.cursorLine, "\(context)")
        }
      }
    }
  }
}
