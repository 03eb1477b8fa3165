import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The queue of writes as a layer.

extension AppState {
  mutating func openQueue() {
    if case .queue? = layers.last { return }
    var screen = QueueScreen()
    screen.rebuild(queue, now: now, height: height)
    layers.append(.queue(screen))
  }

  /// An open queue shows what it holds now.
  mutating func refreshQueue() {
    for (index, layer) in layers.enumerated() {
      guard case .queue(var screen) = layer else { continue }
      screen.rebuild(queue, now: now, height: height)
      layers[index] = .queue(screen)
    }
  }

  mutating func performInQueue(_ action: ActionID, count: Int?) {
    guard case .queue(var screen)? = layers.last else { return }
    switch action {
    case .stepBack: return closeLayer()
    case .recordCompare: return openComparison()
    case .syncEdit: return editAgain(screen)
    case .syncDrop: return confirmDrop(screen)
    case .rowOpen:
      guard let item = screen.cursorWrite(in: queue) else {
        return say(.info, "move to a refused write to see all of it")
      }
      if screen.opened.remove(item.id) == nil {
        screen.opened.insert(item.id)
      } else {
        _ = screen.list.moveTo(.row("\(item.id)"), in: screen.content, height: height)
      }
      screen.rebuild(queue, now: now, height: height)
    default:
      guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    }
    layers[layers.count - 1] = .queue(screen)
  }

  /// Goes on with what was typed for a refused write.
  private mutating func editAgain(_ screen: QueueScreen) {
    guard let item = screen.cursorWrite(in: queue) else {
      return say(.info, "move to a refused write to edit it again")
    }
    if refusesWriting() { return }
    guard item.purpose.isEditable else {
      return say(.info, "nothing was typed for it: do it again where it was done")
    }
    if case .send(let view, let text) = item.purpose, !lists[view].draft.isEmpty,
      lists[view].draft != text
    {
      return say(.warning, "another draft is in the line of this view: send it first")
    }
    closeLayer()
    putBack(item.purpose, item.refusal)
  }

  /// Gives back what was typed for a write, where it was typed.
  private mutating func putBack(_ purpose: WritePurpose, _ refusal: Refusal) {
    switch purpose {
    case .form(let form): reopen(form, refusal)
    case .edit(let path, let edit): reopen(edit, inRecord: path, refusal)
    case .editOutside(let edit, let text): reopen(edit, text, refusal)
    case .send(let view, let text):
      open(view)
      lists[view].draft = text
      openComposer()
    case .delete, .deleteMarked, .importRow, .duplicate, .toggle, .undo, .reversal, .merge: break
    }
  }

  private mutating func confirmDrop(_ screen: QueueScreen) {
    guard let item = screen.cursorWrite(in: queue) else {
      return say(.info, "move to a refused write to drop it")
    }
    let dialog = ConfirmDialog(
      title: "Drop the write",
      message: [StyledLine(item.title), StyledLine("what was typed for it is lost", .warn)],
      hints: [hint(.dialogYes, "drop"), hint(.dialogNo, "keep")].compactMap(\.self),
      isDanger: true)
    layers.append(
      .confirm(ConfirmScreen(dialog: dialog, paths: [], drops: item.id, openedAt: now)))
  }

  /// Drops a refused write.
  mutating func drop(_ id: Int) {
    queue.drop(id)
    refreshQueue()
    say(.info, "dropped")
  }
}
