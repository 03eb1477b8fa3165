import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does in an open record.

extension AppState {
  mutating func performInRecord(_ action: ActionID, count: Int?) {
    guard case .record(var screen)? = layers.last else { return }
    if screen.edit != nil { return performInField(action) }
    if screen.reading != nil {
      if !performOutside(action) { performInReading(action, count: count) }
      return
    }
    if performSearching(action, count ?? 1) || performOutside(action)
      || performOnRow(action)
    {
      return
    }
    switch action {
    case .rowOpen, .rowIn:
      if openField(of: screen, action) { return }
      if action == .rowIn { return say(.info, "there is nothing to read here") }
      return perform(.recordEdit, count: nil)
    case .stepBack: return closeLayer()
    case .recordEdit:
      guard let field = screen.cursorField else { return }
      screen.start(.field(field.path), height: height)
      layers[layers.count - 1] = .record(screen)
      return readChoices(of: [screen.edit?.input].compactMap(\.self))
    case .recordForm:
      guard let node = screen.node else { return }
      return openForm(of: screen.path, node.exportJSON)
    case .recordToggle: return toggle()
    case .recordAdd: return addField(to: screen)
    case .recordDelete:
      guard let field = screen.cursorField, let kind = field.kind else { return }
      let path = Path(unchecked: screen.path.keys + field.path.keys)
      return confirmRemoval(of: path, NodeSummary(kind: kind, priority: nil))
    default:
      guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    }
    layers[layers.count - 1] = .record(screen)
  }

  /// Why a field of an open record is not edited; nil if it is.
  func reasonNotEdited(_ field: Path, in screen: RecordScreen) -> String? {
    do throws(Refusal) {
      _ = try resources.setting(true, at: Path(unchecked: screen.path.keys + field.keys))
      return nil
    } catch {
      return error.message
    }
  }

  private mutating func addField(to screen: RecordScreen) {
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
      edit.input.changeKind()
      screen.edit = edit
    case .inputAccept, .formSave: return acceptField(thenBy: 0)
    case .fieldNext: return acceptField(thenBy: 1)
    case .fieldPrevious: return acceptField(thenBy: -1)
    default:
      _ = edit.input.editor.perform(action)
      edit.input.check()
      screen.edit = edit
    }
    layers[layers.count - 1] = .record(screen)
  }

  /// Writes the edited field if it was changed, and goes on with the field so many rows below.
  private mutating func acceptField(thenBy rows: Int) {
    guard case .record(var screen)? = layers.last, var edit = screen.edit else { return }
    if let message = reasonReadOnly ?? write(edit, in: screen) {
      edit.input.error = message
      screen.edit = edit
    } else {
      screen.endEdit(height: height)
      screen.list.move(by: rows, in: screen.content, height: height)
      if rows != 0, let next = screen.cursorField, next.path != edit.field,
        reasonNotEdited(next.path, in: screen) == nil, reasonTooLong(next) == nil
      {
        screen.start(.field(next.path), height: height)
      }
    }
    layers[layers.count - 1] = .record(screen)
    readChoices(of: [screen.edit?.input].compactMap(\.self))
  }

  /// Asks for the write of an edited field, if it was changed; returns what is wrong with it.
  private mutating func write(_ edit: RecordScreen.Edit, in screen: RecordScreen) -> String? {
    let path = Path(unchecked: screen.path.keys + edit.field.keys)
    // A field that is emptied by a rule that allows it is removed, and one that never was is left.
    if edit.input.isEmpty, edit.original == nil { return nil }
    do {
      let purpose = WritePurpose.edit(record: screen.path, edit)
      // What was deleted elsewhere is written again, as the field says; all else is to be as it was.
      let present = screen.node?[edit.field].leaf == nil ? nil : edit.original
      let conditions = [WriteCondition(path, present?.json ?? .null)]
      if edit.input.isEmpty, edit.input.rule?.isRequired == false {
        submit(purpose, .guarded(try resources.removing(path), conditions))
        return nil
      }
      let value = try edit.input.value()
      if screen.needsWrite(value) {
        submit(purpose, .guarded(try resources.setting(value, at: path), conditions))
      }
      return nil
    } catch let error as FieldError {
      return error.message
    } catch let error as Refusal {
      return error.message
    } catch {
      return "\(error)"
    }
  }
}
