import RunnelBase
import RunnelTerminal
import RunnelTree

// What the user does in an open record.

extension AppState {
  mutating func performInRecord(_ action: ActionID, count: Int?) {
    guard case .record(var screen)? = layers.last else { return }
    if screen.edit != nil { return performInField(action) }
    switch action {
    case .stepBack: return closeLayer()
    case .recordEdit:
      guard let field = screen.cursorField else { return say(.info, "move to a field to edit it") }
      if refusesWriting() { return }
      screen.start(.field(field.path), height: height)
    case .recordAdd: return addField(to: screen)
    case .recordDelete:
      guard let field = screen.cursorField else {
        return say(.info, "move to a field to delete it")
      }
      let path = Path(unchecked: screen.path.keys + field.path.keys)
      return confirmRemoval(of: path, NodeSummary(kind: .leaf(field.leaf), priority: nil))
    default:
      guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    }
    layers[layers.count - 1] = .record(screen)
  }

  private mutating func addField(to screen: RecordScreen) {
    if refusesWriting() { return }
    if screen.node?.leaf != nil {
      return say(.info, "\(screen.path) is a value: it has no fields")
    }
    layers.append(
      .form(
        FormScreen(
          purpose: .addField(screen.path), title: "Add a field to \(screen.path)",
          fields: FormScreen.nameAndValue)))
  }

  private mutating func performInField(_ action: ActionID) {
    guard case .record(var screen)? = layers.last, var edit = screen.edit else { return }
    switch action {
    case .inputCancel: screen.endEdit(height: height)
    case .fieldType:
      edit.kind = edit.kind.next
      edit.error = nil
      screen.edit = edit
    case .inputAccept, .formSave: return acceptField(thenBy: 0)
    case .fieldNext: return acceptField(thenBy: 1)
    case .fieldPrevious: return acceptField(thenBy: -1)
    default:
      edit.error = nil
      _ = edit.editor.perform(action)
      screen.edit = edit
    }
    layers[layers.count - 1] = .record(screen)
  }

  /// Writes the edited field if it was changed, and goes on with the field so many rows below.
  private mutating func acceptField(thenBy rows: Int) {
    guard case .record(var screen)? = layers.last, var edit = screen.edit else { return }
    do throws(FieldError) {
      let value = try edit.kind.value(of: edit.editor.text)
      if screen.needsWrite(value) {
        let path = Path(unchecked: screen.path.keys + edit.field.keys)
        submit(.edit(record: screen.path, edit)) { .write($0, .set(path, value)) }
      }
      screen.endEdit(height: height)
      screen.list.move(by: rows, in: screen.content, height: height)
      if rows != 0, let next = screen.cursorField, next.path != edit.field {
        screen.start(.field(next.path), height: height)
      }
    } catch {
      edit.error = error.message
      screen.edit = edit
    }
    layers[layers.count - 1] = .record(screen)
  }
}
