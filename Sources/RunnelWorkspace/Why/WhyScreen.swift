package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// The reasons why a server refused a write, by its rules: each rule that was evaluated, its place, and the
/// values that it read.
package struct WhyScreen: Hashable, Sendable {
  private static let section = "why"

  /// The write that was refused.
  package let write: PendingWrite
  private var answer = Answer.awaited
  package private(set) var content = ListContent()
  /// The lines of the rows.
  ///
  /// They are kept: how the explanation is wrapped decides how many rows there are, so all of it is
  /// laid out for a width, and a key is to cost no more than the rows on the screen.
  private(set) var lines: [String: StyledLine] = [:]
  package var list = ListState()

  /// What the server says about the rules.
  private enum Answer: Hashable {
    /// Nothing yet: the rules are being read.
    case awaited
    case explained(JSONValue)
    /// There is no explanation, for this reason.
    case failed(String)
  }

  init(_ write: PendingWrite) { self.write = write }

  /// Makes the lines for a width in columns.
  mutating func rebuild(width: Int, height: Int, _ local: LocalTime) {
    let texts =
      switch answer {
      case .awaited: [StyledLine("reading the rules", .connecting)]
      case .explained(let explanation): WhyText(explanation, local).lines
      case .failed(let problem): [StyledLine(problem, .error)]
      }
    lines = [:]
    var ids: [String] = []
    for line in texts.flatMap({ $0.wrapped(width: max(width - 2, 20)) }) {
      let id = "\(ids.count)"
      lines[id] = StyledLine([StyledRun(" ")] + line.runs)
      ids.append(id)
    }
    let old = content
    content = ListContent(sections: [ListSection(id: WhyScreen.section, rows: ids)])
    list.apply(.reload, from: old, to: content, height: height)
    if let first = ids.first { _ = list.moveTo(.row(first), in: content, height: height) }
  }
}

// MARK: Drawing

extension WhyScreen {
  private var headings: [String: ListHeading] {
    let title = "Why the server refused: \(PendingText.deed(of: write))"
    return [
      WhyScreen.section: ListHeading(
        title: StyledLine(title, .sectionHeader), detail: StyledLine())
    ]
  }
}

// MARK: Actions

extension WhyScreen {
  /// The refused write under the cursor of the queue, or the last one at the place at hand; nil for none.
  static func writeAtHand(_ state: AppState) -> PendingWrite? {
    if case .queue(let screen)? = state.layers.last {
      return screen.cursorWrite(in: state.writes.queue)?.write
    }
    guard let path = recordInFront(state) ?? Panes.detailPath(state) else { return nil }
    return state.writes.queue.refused.last { $0.isRejected(at: path) }?.write
  }

  private static func recordInFront(_ state: AppState) -> Path? {
    if case .record(let screen)? = state.layers.last { screen.path } else { nil }
  }

  /// Opens the page, and asks for the explanation.
  static func open(_ state: inout AppState) {
    guard let write = writeAtHand(state) else { return }
    var screen = WhyScreen(write)
    screen.rebuild(
      width: state.layout.body.width, height: state.height, state.settings.local)
    state.layers.append(.why(screen))
    let id = state.requests.add(.why(write))
    state.effects.append(.explain(id, write))
  }

  /// Shows the explanation of a write.
  static func take(_ state: inout AppState, _ json: JSONValue, of write: PendingWrite) {
    change(&state, write) { $0.answer = .explained(json) }
  }

  /// Shows why there is no explanation of a write.
  static func fail(_ state: inout AppState, _ refusal: Refusal, of write: PendingWrite) {
    change(&state, write) { $0.answer = .failed(refusal.message) }
  }

  private static func change(
    _ state: inout AppState, _ write: PendingWrite, _ body: (inout WhyScreen) -> Void
  ) {
    for (index, layer) in state.layers.enumerated() {
      guard case .why(var screen) = layer, screen.write == write else { continue }
      body(&screen)
      screen.rebuild(
        width: state.layout.body.width, height: state.height, state.settings.local)
      state.layers[index] = .why(screen)
    }
  }
}

// MARK: The layer

extension WhyScreen: ListLayer {
  var layer: Layer { .why(self) }
  var summary: String { "why a write was refused" }
  var heading: String? { "why" }
  var rowWord: String { "line" }

  func contexts(about hand: AtHand) -> [KeymapContext] { WhyCommands.table.contexts }

  mutating func fit(_ state: AppState) {
    rebuild(width: state.layout.body.width, height: state.height, state.settings.local)
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(lines, of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}

extension WriteQueue.Refused {
  /// Whether the origin refused it, and it writes at a place, above it or below it.
  func isRejected(at path: Path) -> Bool {
    write?.parts.contains { $0.path.contains(path) || path.contains($0.path) } ?? false
  }
}
