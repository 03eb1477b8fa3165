import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of an open record.

extension RecordScreen {
  /// Opens the field under the cursor, or edits it if there is nothing to open.
  static func openOrEditField(_ state: inout AppState) {
    guard case .record(let screen)? = state.layers.last, !Related.openAtCursor(&state) else {
      return
    }
    if !Reading.openField(&state, of: screen, isGoingIn: false) { editField(&state) }
  }

  /// Opens the object under the cursor, or shows the value in full.
  static func readField(_ state: inout AppState) {
    guard case .record(let screen)? = state.layers.last, !Related.openAtCursor(&state) else {
      return
    }
    Reading.openField(&state, of: screen, isGoingIn: true)
  }

  /// Edits the field under the cursor in its line.
  static func editField(_ state: inout AppState) {
    guard case .record(var screen)? = state.layers.last, let field = screen.cursorField else {
      return
    }
    screen.start(.field(field.path), height: state.height)
    state.layers[state.layers.count - 1] = .record(screen)
    offerDraft(&state, at: state.layers.count - 1)
    ResourceCommands.readChoices(&state)
  }

  static func deleteField(_ state: inout AppState) {
    guard case .record(let screen)? = state.layers.last, let field = screen.cursorField,
      let kind = field.kind
    else { return }
    let path = Path(unchecked: screen.path.keys + field.path.keys)
    Deleting.confirmRemoval(&state, of: path, NodeSummary(kind: kind, priority: nil))
  }

  /// The reason why a field of an open record cannot be edited, or nil if it can.
  static func reasonNotEdited(_ state: AppState, _ field: Path, in screen: RecordScreen) -> String?
  {
    do throws(Refusal) {
      _ = try state.database.resources.setting(
        true, at: Path(unchecked: screen.path.keys + field.keys))
      return nil
    } catch {
      return error.message
    }
  }

  static func addField(_ state: inout AppState) {
    guard case .record(let screen)? = state.layers.last else { return }
    FormScreen.open(
      &state,
      FormScreen(
        purpose: .addField(screen.path), title: "Add a field to \(screen.path)",
        fields: FormScreen.nameAndValue))
  }

  // MARK: The field in its line

  /// Leaves the field, and keeps the typed text as a draft.
  static func cancelField(_ state: inout AppState) {
    guard case .record(var screen)? = state.layers.last else { return }
    let draft = isQueued(state, screen) ? nil : screen.draft
    if screen.isCell {
      state.closeLayer()
      if let draft { Drafts.keep(&state, draft, again: .recordEdit) }
      return
    }
    let kept = draft.map { [$0.subject.field] } ?? []
    screen.endEdit(
      drafts: state.writes.drafts.fields(ofRecord: screen.path).union(kept),
      height: state.height)
    state.layers[state.layers.count - 1] = .record(screen)
    if let draft { Drafts.keep(&state, draft, again: .recordEdit) }
  }

  /// Whether the queue has a refused write with the text of the field.
  private static func isQueued(_ state: AppState, _ screen: RecordScreen) -> Bool {
    state.writes.queue.refused.contains { item in
      guard case .edit(screen.path, let refused) = item.purpose, let edit = screen.edit else {
        return false
      }
      return refused.field == edit.field && refused.input.editor.text == edit.input.editor.text
    }
  }

  static func changeFieldType(_ state: inout AppState) {
    changeEdit(&state) { $0.input.changeKind() }
  }

  /// Changes the edit of the record in front.
  static func changeEdit(_ state: inout AppState, _ body: (inout RecordScreen.Edit) -> Void) {
    guard case .record(var screen)? = state.layers.last, var edit = screen.edit else { return }
    body(&edit)
    screen.edit = edit
    state.layers[state.layers.count - 1] = .record(screen)
  }

  /// Writes the edited field if it was changed, and edits the field a number of rows below; after a
  /// cell, goes so many columns on.
  static func acceptField(_ state: inout AppState, thenBy rows: Int) {
    guard case .record(var screen)? = state.layers.last, var edit = screen.edit else { return }
    edit.input.takeOnlyChoice()
    // What is written is compared with what the screen has.
    screen.edit = edit
    if let message = state.reasonReadOnly ?? write(&state, edit, in: screen) {
      edit.input.error = message
      screen.edit = edit
    } else if screen.isCell {
      state.closeLayer()
      if rows != 0 { Cells.move(&state, by: rows) }
      return
    } else {
      screen.endEdit(
        drafts: state.writes.drafts.fields(ofRecord: screen.path), height: state.height)
      screen.list.move(by: rows, in: screen.content, height: state.height)
      if rows != 0, let next = screen.cursorField, next.path != edit.field,
        reasonNotEdited(state, next.path, in: screen) == nil,
        RecordCommands.reasonFieldTooLong(state, next) == nil
      {
        screen.start(.field(next.path), height: state.height)
      }
    }
    state.layers[state.layers.count - 1] = .record(screen)
    offerDraft(&state, at: state.layers.count - 1)
    ResourceCommands.readChoices(&state)
  }

  /// Requests the write of an edited field if it was changed; returns the error, or nil.
  private static func write(
    _ state: inout AppState, _ edit: RecordScreen.Edit, in screen: RecordScreen
  ) -> String? {
    let path = Path(unchecked: screen.path.keys + edit.field.keys)
    // An emptied field is removed if its rule allows that; a missing field that stays empty is not
    // written.
    if edit.original == nil, edit.input.isEmpty || edit.isUntouched { return nil }
    do {
      let purpose = WritePurpose.edit(record: screen.path, edit)
      // What others changed or removed meanwhile is not replaced: the comparison asks.
      let conditions = edit.conditions(inRecord: screen.path)
      if edit.input.isEmpty, edit.input.rule?.isRequired == false {
        state.submit(purpose, .guarded(try state.database.resources.removing(path), conditions))
        return nil
      }
      let value = try edit.input.value()
      if screen.needsWrite(value) {
        state.submit(
          purpose,
          .guarded(
            try state.database.resources.setting(state.database.coding.stored(value), at: path),
            conditions))
      }
      return nil
    } catch let error as InputError {
      return error.message
    } catch let error as Refusal {
      return error.message
    } catch {
      return "\(error)"
    }
  }
}
