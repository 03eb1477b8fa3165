package import RunnelBase
import RunnelTerminal

/// The commands that move through a list.
package enum MovingCommands {
  /// Moves the cursor of a list, or scrolls the list.
  package typealias Move =
    @Sendable (
      _ list: inout ListState, _ content: ListContent, _ height: Int, _ count: Int?
    ) -> Void

  package static let table = CommandTable(.list, "Moving", over: [.global]) {
    lines
    pages
    siblings
    sections
    screen
    scrolling
    placing
    sideways
  }

  private static func move(
    _ id: ActionID, _ title: String, _ help: String, keys: [String],
    needs: Command.Need = .rows, traits: Command.Traits = [], _ move: @escaping Move
  ) -> Command {
    Command(id, title, help, keys: keys, needs: needs, traits: traits) { state, count in
      MovingCommands.moveInFront(&state) { list, content, height in
        move(&list, content, height, count)
      }
    }
  }

  /// A command that moves to an end of a list; an end that is not loaded is read first.
  private static func moveToEnd(
    _ id: ActionID, _ title: String, _ help: String, keys: [String], traits: Command.Traits,
    _ move: @escaping Move
  ) -> Command {
    Command(id, title, help, keys: keys, needs: .rows, traits: traits) { state, count in
      if ListScreen.goesToUnloadedEnd(&state, id, count: count) { return }
      MovingCommands.moveInFront(&state) { list, content, height in
        move(&list, content, height, count)
      }
      guard count == nil, state.layers.isEmpty, state.pane != .views else { return }
      if id == .rowFirst { return Cells.stepOntoRow(&state) }
      let height = state.tabs.frontHeight(in: state.height)
      state.tabs.changeFrontList { $0.stepOntoLastRecord(height: height) }
    }
  }

  /// The moves from row to row and sideways, which have no meaning in a text.
  package static let other: [Command] = siblings + sections + screen + placing + sideways

  // MARK: Lines

  package static let down = move(
    .rowDown, "down", "down (takes a count)", keys: ["j", "Down", "C-n"], traits: [.movesDown]
  ) { list, content, height, count in list.move(by: count ?? 1, in: content, height: height) }

  static let up = move(
    .rowUp, "up", "up", keys: ["k", "Up", "C-p"], traits: [.movesUp]
  ) { list, content, height, count in list.move(by: -(count ?? 1), in: content, height: height) }

  package static let first = moveToEnd(
    .rowFirst, "first row", "first row, or row N with a count", keys: ["gg", "Home", "M-<"],
    traits: [.movesFar]
  ) { list, content, height, count in
    if let count {
      list.moveToRow(number: count, in: content, height: height)
    } else {
      list.moveToFirst(in: content, height: height)
    }
  }

  package static let last = moveToEnd(
    .rowLast, "last row", "last row, or row N with a count", keys: ["G", "End", "M->"],
    traits: [.movesDown, .movesFar]
  ) { list, content, height, count in
    if let count {
      list.moveToRow(number: count, in: content, height: height)
    } else {
      list.moveToLast(in: content, height: height)
    }
  }

  private static let lines = [down, up, first, last]

  // MARK: Pages

  static let pageDown = move(
    .pageDown, "page down", "page down", keys: ["C-f", "PgDn", "C-v"], traits: [.movesDown]
  ) { list, content, height, count in
    list.movePage(by: Double(count ?? 1), in: content, height: height)
  }

  static let pageUp = move(
    .pageUp, "page up", "page up", keys: ["C-b", "PgUp", "M-v"], traits: [.movesUp]
  ) { list, content, height, count in
    list.movePage(by: -Double(count ?? 1), in: content, height: height)
  }

  static let halfDown = move(
    .pageHalfDown, "half page down", "half page down", keys: ["C-d"], traits: [.movesDown]
  ) { list, content, height, _ in list.movePage(by: 0.5, in: content, height: height) }

  static let halfUp = move(
    .pageHalfUp, "half page up", "half page up", keys: ["C-u"], traits: [.movesUp]
  ) { list, content, height, _ in list.movePage(by: -0.5, in: content, height: height) }

  private static let pages = [pageDown, pageUp, halfDown, halfUp]

  // MARK: Siblings and sections

  private static let siblings: [Command] = [
    Command(
      .siblingNext, "next sibling", "next one that is as deep", keys: ["J"], needs: .rows,
      traits: [.movesDown],
      disabled: { MovingCommands.reasonNoSibling($0, by: 1) }
    ) { MovingCommands.goToSibling(&$0, by: $1 ?? 1) },
    Command(
      .siblingPrevious, "previous sibling", "previous one that is as deep", keys: ["K"],
      needs: .rows, traits: [.movesUp],
      disabled: { MovingCommands.reasonNoSibling($0, by: -1) }
    ) { MovingCommands.goToSibling(&$0, by: -($1 ?? 1)) },
  ].keepingAwaitedRow

  static let sectionNext = move(
    .sectionNext, "next section", "next section", keys: ["]]", "}"], traits: [.movesDown]
  ) { list, content, height, count in
    // A great count ends at the last section.
    for _ in 0..<min(count ?? 1, content.sections.count) {
      list.moveToNextSection(in: content, height: height)
    }
  }

  static let sectionPrevious = move(
    .sectionPrevious, "previous section", "previous section", keys: ["[[", "{"], traits: [.movesUp]
  ) { list, content, height, count in
    for _ in 0..<min(count ?? 1, content.sections.count) {
      list.moveToPreviousSection(in: content, height: height)
    }
  }

  private static let sections = [sectionNext, sectionPrevious]

  // MARK: Within the screen

  private static let screen: [Command] = [
    move(.screenTop, "top", "top row of the screen", keys: ["H"]) { list, content, height, _ in
      list.moveToScreen(.top, in: content, height: height)
    },
    move(.screenMiddle, "middle", "middle row of the screen", keys: ["M"]) {
      list, content, height, _ in
      list.moveToScreen(.middle, in: content, height: height)
    },
    move(.screenBottom, "bottom", "bottom row of the screen", keys: ["L"]) {
      list, content, height, _ in
      list.moveToScreen(.bottom, in: content, height: height)
    },
  ]

  static let scrollDown = move(
    .scrollDown, "scroll", "scroll one line, the cursor stays", keys: ["C-e"]
  ) { list, content, height, count in list.scroll(by: count ?? 1, in: content, height: height) }

  static let scrollUp = move(
    .scrollUp, "scroll back", "scroll one line back", keys: ["C-y"]
  ) { list, content, height, count in list.scroll(by: -(count ?? 1), in: content, height: height) }

  static let scrolling = [scrollDown, scrollUp]

  private static let placing: [Command] = [
    move(.scrollRowTop, "row to the top", "put the row at the top", keys: ["zt"]) {
      list, content, height, _ in
      list.placeCursor(.top, in: content, height: height)
    },
    move(.scrollRowMiddle, "row to the middle", "put the row in the middle", keys: ["zz"]) {
      list, content, height, _ in
      list.placeCursor(.middle, in: content, height: height)
    },
    move(.scrollRowBottom, "row to the bottom", "put the row at the bottom", keys: ["zb"]) {
      list, content, height, _ in
      list.placeCursor(.bottom, in: content, height: height)
    },
  ]

  static let sideways: [Command] = [
    move(.scrollRight, "scroll right", "scroll right", keys: ["zl", "S-Right"], needs: .nothing) {
      list, _, _, _ in
      list.scrollHorizontally(by: 8)
    },
    move(.scrollLeft, "scroll left", "scroll left", keys: ["zh", "S-Left"], needs: .nothing) {
      list, _, _, _ in
      list.scrollHorizontally(by: -8)
    },
  ]
}

extension MovingCommands {
  /// Changes the list that has the keys; near the end of the loaded rows, more rows are fetched.
  static func moveInFront(
    _ state: inout AppState, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    if state.pane == .views {
      let content = Panes.viewsContent(state)
      state.panes.views = Panes.settledViews(state, in: content)
      body(&state.panes.views, content, state.layout.views.height)
      return Panes.followSection(&state)
    }
    if let index = state.layers.indices.last, state.withLayerList(at: index, body) { return }
    state.withList(body)
    ListScreen.fetchAhead(&state)
  }
}
