import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The commands of an open record.
enum RecordCommands {
  static let table = CommandTable(.record, "In this record", takesCounts: true, hints: hints) {
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

  static let open = Command(
    .rowOpen, "open", "open a long text or an object, or edit the field", keys: ["Enter"],
    disabled: { $0.reasonFieldNotOpened }
  ) { state, _ in state.openOrEditField() }

  private static let opening: [Command] = [
    open,
    Command(
      .rowIn, "read", "open the object, or read the value in full", keys: ["l", "Right"],
      disabled: { $0.reasonFieldNotRead }
    ) { state, _ in state.readField() },
  ]

  private static let writing: [Command] = [
    edit,
    Command(
      .recordAdd, "add field", "add a field", keys: ["a"], disabled: { $0.reasonNoFieldAdded }
    ) {
      state, _ in
      state.addField()
    },
    Command(
      .recordDelete, "delete", "delete the field…", keys: ["d", "Del"],
      disabled: { $0.reasonNoFieldDeleted }
    ) { state, _ in state.deleteField() },
  ]

  static let edit = Command(
    .recordEdit, "edit", "edit the field in place", keys: ["e", "F2"],
    disabled: { $0.reasonNoFieldEdited }
  ) { state, _ in state.editField() }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.recordEdit), CommandHint(.recordAdd), CommandHint(.recordDelete),
      CommandHint(.stepBack),
    ]
  }
}

/// The commands of a field that is edited in its line: it takes the keys of text fields.
enum FieldCommands {
  static let table = CommandTable(.field, "In this field", hints: hints) {
    TypingCommands.accept.inner("save") { state, _ in state.acceptField(thenBy: 0) }
    TypingCommands.cancel.inner("cancel") { state, _ in state.cancelField() }
    TypingCommands.fieldNext.inner { state, _ in state.acceptField(thenBy: 1) }
    TypingCommands.fieldPrevious.inner { state, _ in state.acceptField(thenBy: -1) }
    TypingCommands.fieldType.inner { state, _ in state.changeFieldType() }
  }

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [CommandHint(.inputAccept), CommandHint(.inputCancel), CommandHint(.fieldType)]
  }
}

// MARK: - Disabled reasons

extension AppState {
  private var recordInFront: RecordScreen? {
    if case .record(let screen)? = layers.last { screen } else { nil }
  }

  var reasonFieldNotOpened: String? {
    if let reason = reasonBeingRead { return reason }
    guard let screen = recordInFront, !opensField(of: screen, isGoingIn: false) else { return nil }
    return reasonNoFieldEdited
  }

  var reasonFieldNotRead: String? {
    if let reason = reasonBeingRead { return reason }
    guard let screen = recordInFront, !opensField(of: screen, isGoingIn: true) else { return nil }
    return "there is nothing to read here"
  }

  var reasonNoFieldEdited: String? {
    if let reason = reasonBeingRead { return reason }
    guard let screen = recordInFront else { return nil }
    guard let field = screen.cursorField else { return "move to a field to edit it" }
    if field.childCount != nil {
      return "open it to edit a value in it: \(keysOrName(.rowOpen)) opens"
    }
    return reasonReadOnly ?? reasonNotEdited(field.path, in: screen) ?? reasonTooLong(field)
  }

  var reasonNoFieldAdded: String? {
    if let reason = reasonBeingRead ?? reasonReadOnly { return reason }
    guard let screen = recordInFront, screen.node?.leaf != nil else { return nil }
    return "\(screen.path) is a value: it has no fields"
  }

  var reasonNoFieldDeleted: String? {
    if let reason = reasonBeingRead { return reason }
    guard let field = recordInFront?.cursorField else { return "move to a field to delete it" }
    return field.kind == nil ? "nothing stands there" : reasonReadOnly
  }

  /// The reason why a field is not edited in its line; nil if it is.
  func reasonTooLong(_ field: RecordScreen.Field) -> String? {
    field.leaf.flatMap { reasonTooLong(FieldKind.text(of: $0.json)) }
  }
}
