import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of an open record.
package enum RecordCommands {
  package static let table = CommandTable(
    .record, "In this record", over: .belowPage, takesCounts: true, hints: hints
  ) {
    opening
    writing
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.export
    SharedCommands.outside
    SharedCommands.undoing
    SharedCommands.histories
    SharedCommands.comparing
    SharedCommands.places
    SharedCommands.rows
    SharedCommands.searching
  }

  package static let open = Command(
    .rowOpen, "open", "open a long text or an object, or edit the field", keys: ["Enter"],
    needs: .record(.opening), traits: [.opens],
    disabled: { RecordCommands.reasonFieldNotOpened($0) }
  ) { state, _ in RecordScreen.openOrEditField(&state) }

  private static let opening: [Command] = [
    open,
    Command(
      .rowIn, "read", "open the object, or read the value in full", keys: ["l", "Right"],
      needs: .record(nil), traits: [.opens],
      disabled: { RecordCommands.reasonFieldNotRead($0) }
    ) { state, _ in RecordScreen.readField(&state) },
    Command(
      .sectionMore, "count", "count the references to it", keys: ["gm"], needs: .rows,
      disabled: { Related.reasonNotCounted($0) }
    ) { state, _ in Related.countAtCursor(&state) },
  ]

  private static let writing: [Command] = [
    edit,
    Command(
      .recordAdd, "add field", "add a field", keys: ["a"], needs: .rows, traits: [.opensText],
      disabled: { RecordCommands.reasonNoFieldAdded($0) }
    ) {
      state, _ in
      RecordScreen.addField(&state)
    },
    Command(
      .recordDelete, "delete", "delete the field…", keys: ["d", "Del"], needs: .record(.deleting),
      disabled: { RecordCommands.reasonNoFieldDeleted($0) }
    ) { state, _ in RecordScreen.deleteField(&state) },
  ]

  package static let edit = Command(
    .recordEdit, "edit", "edit the field in place", keys: ["e", "F2"], needs: .record(.changing),
    traits: [.opensText],
    disabled: { RecordCommands.reasonNoFieldEdited($0) }
  ) { state, _ in RecordScreen.editField(&state) }

  @Sendable
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    if recordInFront(state)?.cursorRelated != nil {
      return [CommandHint(.rowOpen), CommandHint(.sectionMore), CommandHint(.stepBack)]
    }
    return [
      CommandHint(.recordEdit), CommandHint(.recordAdd), CommandHint(.recordDelete),
      CommandHint(.stepBack),
    ]
  }
}

/// The commands of a field that is edited in its line, which has the keys of text fields.
package enum FieldCommands {
  package static let table = CommandTable(
    .field, "In this field", over: [.fields] + .belowText, hints: hints
  ) {
    TypingCommands.accept.inner("save") { state, _ in RecordScreen.acceptField(&state, thenBy: 0) }
    TypingCommands.cancel.inner("cancel") { state, _ in RecordScreen.cancelField(&state) }
    TypingCommands.fieldNext.inner { state, _ in
      var isTaken = false
      RecordScreen.changeEdit(&state) { isTaken = $0.input.takeChoice() }
      if !isTaken { RecordScreen.acceptField(&state, thenBy: 1) }
    }
    TypingCommands.fieldPrevious.inner { state, _ in RecordScreen.acceptField(&state, thenBy: -1) }
    TypingCommands.fieldType.inner { state, _ in RecordScreen.changeFieldType(&state) }
  }

  @Sendable
  private static func hints(_ state: AppState, _: AtHand) -> [CommandHint] {
    let ofField = state.layers.last?.component.fieldInput.map(TypingCommands.hints) ?? []
    return [CommandHint(.inputAccept), CommandHint(.inputCancel)] + ofField
  }
}

// MARK: - Disabled reasons

extension RecordCommands {
  private static func recordInFront(_ state: AppState) -> RecordScreen? {
    if case .record(let screen)? = state.layers.last { screen } else { nil }
  }

  static func reasonFieldNotOpened(_ state: AppState) -> String? {
    if let reason = SharedCommands.reasonBeingRead(state) { return reason }
    guard let screen = recordInFront(state), screen.cursorRelated == nil,
      !Reading.opensField(state, of: screen, isGoingIn: false)
    else { return nil }
    return reasonNoFieldEdited(state)
  }

  static func reasonFieldNotRead(_ state: AppState) -> String? {
    if let reason = SharedCommands.reasonBeingRead(state) { return reason }
    guard let screen = recordInFront(state), screen.cursorRelated == nil,
      !Reading.opensField(state, of: screen, isGoingIn: true)
    else { return nil }
    return "there is nothing to read here"
  }

  static func reasonNoFieldEdited(_ state: AppState) -> String? {
    if let reason = SharedCommands.reasonBeingRead(state) { return reason }
    guard let screen = recordInFront(state) else { return nil }
    guard let field = screen.cursorField else { return "move to a field to edit it" }
    if field.childCount != nil {
      return "open it to edit a value in it: \(state.keysOrName(.rowOpen)) opens"
    }
    return state.reasonReadOnly ?? RecordScreen.reasonNotEdited(state, field.path, in: screen)
      ?? reasonFieldTooLong(state, field)
  }

  static func reasonNoFieldAdded(_ state: AppState) -> String? {
    if let reason = SharedCommands.reasonBeingRead(state) ?? state.reasonReadOnly { return reason }
    guard let screen = recordInFront(state), screen.node?.leaf != nil else { return nil }
    return "\(screen.path) is a value: it has no fields"
  }

  static func reasonNoFieldDeleted(_ state: AppState) -> String? {
    if let reason = SharedCommands.reasonBeingRead(state) { return reason }
    guard let field = recordInFront(state)?.cursorField else {
      return "move to a field to delete it"
    }
    return field.kind == nil ? "nothing stands there" : state.reasonReadOnly
  }

  /// The reason why a field is too long to be edited in its line, or nil if it is not.
  static func reasonFieldTooLong(_ state: AppState, _ field: RecordScreen.Field) -> String? {
    (field.leaf?.json ?? field.coded)
      .flatMap { Typing.reasonTooLong(state, FieldKind.text(of: $0)) }
  }
}
