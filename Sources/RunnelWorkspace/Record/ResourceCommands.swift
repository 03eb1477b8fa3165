import RunnelTerminal

/// The commands of a record, and those of one that a resource describes.
package enum ResourceCommands {
  package static let resource = CommandTable(
    .resource, "With this record", over: .belowRow, takesCounts: true
  ) {
    Command(
      .recordForm, "form", "edit all fields in a form", keys: ["i"], needs: .record(.changing),
      traits: [.opensText],
      disabled: { SharedCommands.reasonNoForm($0) }
    ) { state, _ in ResourceCommands.openFormAtHand(&state) }
  }

  /// The commands of a record that has something for the user to toggle, such as a like.
  package static let toggle = CommandTable(
    .toggle, "Yours", over: [.resource] + .belowRow, takesCounts: true
  ) {
    Command(
      .recordToggle, "toggle", "add your own entry here, or remove it", keys: ["T"],
      needs: .record(.changing),
      disabled: { SharedCommands.reasonNotToggled($0) }
    ) { state, _ in ResourceCommands.toggle(&state) }
  }

  /// The commands of an entry of the action log.
  static let activity = CommandTable(
    .activity, "With this entry", over: .belowRow, takesCounts: true
  ) {
    SharedCommands.undo.inner(
      "take back", "take the entry back, if it still stands", keys: ["u"],
      needs: .record(.undoing))
  }
}
