import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does in an open record.

extension AppState {
  /// Opens what is under the cursor, or else edits it.
  mutating func openOrEditField() {
    guard case .record(let screen)? = layers.last else { return }
    if !openField(of: screen, isGoingIn: false) { editField() }
  }

  /// Opens the object under the cursor, or reads the value in full.
  mutating func readField() {
    guard case .record(let screen)? = layers.last else { return }
    openField(of: screen, isGoingIn: true)
  }

  /// Edits the field under the cursor in its line.
  mutating func editField() {
    guard case .record(var screen)? = layers.last, let field = screen.cursorField else { return }
    screen.start(.field(field.path), height: height)
    layers[layers.count - 1] = .record(screen)
    readChoices(of: [screen.edit?.input].compactMap(\.self))
  }

  mutating func deleteField() {
    guard case .record(let screen)? = layers.last, let field = screen.cursorField,
      let kind = field.kind
    else { return }
    let path = Path(unchecked: screen.path.keys + field.path.keys)
    confirmRemoval(of: path, NodeSummary(kind: kind, priority: nil))
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

  mutating func addField() {
    guard case .record(let screen)? = layers.last else { return }
    layers.append(
      .form(
        FormScreen(
          purpose: .addField(screen.path), title: "Add a field to \(screen.path)",
          fields: FormScreen.nameAndValue)))
  }

  // MARK: The field in its line

  mutating func cancelField() {
    guard case .record(var screen)? = layers.last else { return }
    screen.endEdit(height: height)
    layers[layers.count - 1] = .record(screen)
  }

  mutating func changeFieldType() {
    changeEdit { $0.input.changeKind() }
  }

  /// Changes the field that is edited.
  mutating func changeEdit(_ body: (inout RecordScreen.Edit) -> Void) {
    guard case .record(var screen)? = layers.last, var edit = screen.edit else { return }
    body(&edit)
    screen.edit = edit
    layers[layers.count - 1] = .record(screen)
  }

  /// Writes the edited field if it was changed, and goes on with the field so many rows below.
  mutating func acceptField(thenBy rows: Int) {
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
