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
      guard let field = screen.cursorField else { return }
      if isReadOnly { return say(.warning, "this database is open read-only") }
      screen.startEdit(field.path, field.leaf)
    case .recordAdd:
      if isReadOnly { return say(.warning, "this database is open read-only") }
      let fields = [FormScreen.Field("name", kind: .string), FormScreen.Field("value", kind: .json)]
      layers.append(
        .form(
          FormScreen(
            purpose: .addField(screen.path), title: "Add a field to \(screen.path)",
            fields: fields)))
      return
    case .recordDelete:
      guard let field = screen.cursorField else { return }
      let path = Path(unchecked: screen.path.keys + field.path.keys)
      return confirmRemoval(of: path, NodeSummary(kind: .leaf(field.leaf), priority: nil))
    default:
      guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    }
    layers[layers.count - 1] = .record(screen)
  }

  private mutating func performInField(_ action: ActionID) {
    guard case .record(var screen)? = layers.last, var edit = screen.edit else { return }
    switch action {
    case .inputCancel: screen.edit = nil
    case .fieldType:
      edit.kind = edit.kind.next
      edit.error = nil
      screen.edit = edit
    case .inputAccept, .formSave:
      do throws(FieldError) {
        let value = try edit.kind.value(of: edit.editor.text)
        screen.edit = nil
        let path = Path(unchecked: screen.path.keys + edit.field.keys)
        submit(.edit) { .write($0, .set(path, value)) }
      } catch {
        edit.error = error.message
        screen.edit = edit
      }
    default:
      edit.error = nil
      _ = edit.editor.perform(action)
      screen.edit = edit
    }
    layers[layers.count - 1] = .record(screen)
  }
}
