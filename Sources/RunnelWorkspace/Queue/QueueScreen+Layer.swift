import RunnelBase
import RunnelTerminal

// The queue of writes as a layer.

extension QueueScreen: ListLayer {
  var layer: Layer { .queue(self) }
  var summary: String { "queue of writes" }
  var heading: String? { "writes" }

  func contexts(about hand: AtHand) -> [KeymapContext] { QueueCommands.table.contexts }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    guard [.syncRetry, .syncDrop, .syncEdit, .syncLeaveOut].contains(action),
      let item = cursorWrite(in: state.writes.queue),
      state.writes.queue.isTriedAgain(item, state.requests.writes)
    else { return nil }
    return "it is being tried again"
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(lines, of: self, headings: headings(screen.state.writes.queue), into: &canvas)
  }

  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}
