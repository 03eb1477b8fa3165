package import RunnelBase
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

// Editing a record or a node as JSON in the user's editor.

/// An edit of a value in the user's editor.
package struct OutsideEdit: Hashable, Sendable {
  package let path: Path
  /// The value when the edit began, as it is shown.
  let original: JSONValue
  /// The edited text and the reason, if its write was refused.
  package var refused: EditRound.Refused?

  package init(path: Path, original: JSONValue, refused: EditRound.Refused? = nil) {
    self.path = path
    self.original = original
    self.refused = refused
  }

  /// The text that the editor shows first.
  package var text: String { original.jsonText(pretty: true) + "\n" }
}

extension OutsideEdit {
  /// Reads the record or node at hand, to edit its present value as a whole.
  static func editOutside(_ state: inout AppState) {
    guard let path = placeAtHand(state) else { return }
    state.read(path, for: .editOutside)
  }

  /// The place of the record, or of the node in the tree, that the keys act on; nil if there is
  /// none.
  static func placeAtHand(_ state: AppState) -> Path? {
    if case .record(let screen)? = state.layers.last { return screen.path }
    if let list = state.tabs.frontList { return list.cursorRecord?.path }
    guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return nil }
    return path
  }

  static func startEditing(_ state: inout AppState, _ path: Path, _ value: JSONValue?) {
    guard let value, value != .null else { return state.say(.info, "\(path) is gone") }
    openEditor(&state, OutsideEdit(path: path, original: state.database.coding.shown(value)))
  }

  /// Returns the error in an edited text before it is written, or nil if there is none.
  package static func problem(_ state: AppState, with text: String, in edit: OutsideEdit) -> String?
  {
    do {
      _ = try request(state, for: text, edit)
      return nil
    } catch let error as Refusal {
      return error.message
    } catch {
      return "\(error)"
    }
  }

  /// Returns the write for an edited text, or nil if the value was not changed.
  private static func request(
    _ state: AppState, for text: String, _ edit: OutsideEdit
  ) throws -> WriteRequest? {
    try state.database.resources.replacing(
      state.database.coding.stored(edit.original, madeOf: edit.original),
      by: state.database.coding.stored(JSONValue(parsing: text), madeOf: edit.original),
      at: edit.path)
  }

  /// Returns the write for an edited text, which asks that what it changes is as it was when the edit began; nil if
  /// the value was not changed.
  static func guardedRequest(
    _ state: AppState, for text: String, _ edit: OutsideEdit
  ) throws -> WriteRequest? {
    guard let request = try request(state, for: text, edit) else { return nil }
    let coding = state.database.coding
    let before = coding.stored(edit.original, madeOf: edit.original)
    let changes = try ResourceBook.changes(
      from: before, to: coding.stored(JSONValue(parsing: text), madeOf: edit.original))
    let original = try RunnelTree.Node(json: before)
    let conditions = changes.map { change in
      WriteCondition(
        Path(unchecked: edit.path.keys + change.place.keys), original[change.place].json)
    }
    return .guarded(request, conditions)
  }

  /// Handles the end of the user's editor.
  static func finish(
    _ state: inout AppState, _ edit: OutsideEdit, _ outcome: ExternalEditor.Outcome
  ) {
    state.input.isEditorOpen = false
    let edit = edit.following(state.database.moves)
    switch outcome {
    case .unchanged: state.say(.info, "nothing was changed")
    case .accepted(let text):
      // Writing may have been turned off meanwhile; then the text is given back.
      if let reason = state.reasonReadOnly { return reopen(&state, edit, text, Refusal(reason)) }
      do {
        guard let request = try guardedRequest(state, for: text, edit) else {
          return state.say(.info, "nothing was changed")
        }
        state.submit(.editOutside(edit, text: text), request)
      } catch let error as Refusal {
        reopen(&state, edit, text, error)
      } catch {
        reopen(&state, edit, text, Refusal("\(error)"))
      }
    case .kept(let file, let reason):
      state.say(.error, "not saved: \(reason) · your text is in \(file)")
    case .failed(let reason): state.say(.error, reason)
    }
  }

  /// Opens the editor again with a refused text, and the reason above it.
  static func reopen(
    _ state: inout AppState, _ edit: OutsideEdit, _ text: String, _ refusal: Refusal
  ) {
    let reasons = refusal.fields.map { "\($0.name): \($0.message)" }
    var edit = edit
    edit.refused = EditRound.Refused(
      text, reason: ([refusal.message] + reasons).joined(separator: "\n"))
    openEditor(&state, edit)
  }

  private static func openEditor(_ state: inout AppState, _ edit: OutsideEdit) {
    state.input.isEditorOpen = true
    state.effects.append(.editOutside(edit))
  }
}

// MARK: What is written

extension ResourceBook {
  /// Throws a refusal for places that cannot be edited as a whole.
  func checkEditable(_ path: Path) throws(Refusal) {
    switch registry.place(of: path) {
    case .free: return
    case .record(let identity, let field):
      if let reason = reasonNotEdited(field, of: identity.resource) { throw Refusal(reason) }
    case .above, .copy, .log: _ = try setting(.null, at: path)
    }
  }

  /// Returns the request that writes the differences only, so that changes of others in other
  /// fields stay; nil if there are no differences.
  package func replacing(
    _ original: JSONValue, by value: JSONValue, at path: Path
  ) throws(Refusal) -> WriteRequest? {
    try checkEditable(path)
    if value == .null || value == .object([]) {
      throw Refusal("nothing would be left of \(path): delete it instead")
    }
    let changes = try ResourceBook.changes(from: original, to: value)
    if changes.isEmpty { return nil }
    let isReplaced = changes[0].place.isRoot
    guard case .record(let identity, let field) = registry.place(of: path) else {
      if isReplaced { return .set(path, value) }
      return .update(path, changes.map { JSONMember($0.place.text, $0.value) })
    }
    if field.isRoot, original == .null { return try setting(value, at: path) }
    if field.isRoot, isReplaced {
      throw Refusal("a record of `\(identity.resource)` is an object of fields")
    }
    var members: [JSONMember] = []
    for change in changes {
      let place = Path(unchecked: field.keys + change.place.keys)
      if let reason = reasonNotEdited(place, of: identity.resource) { throw Refusal(reason) }
      members.append(JSONMember(place.text, change.value))
    }
    return .operation(updating(identity, members))
  }

  /// Returns the outermost places where two values differ, with the new values.
  fileprivate static func changes(
    from old: JSONValue, to new: JSONValue, at place: Path = .root
  ) throws(Refusal) -> [(place: Path, value: JSONValue)] {
    if old == new { return [] }
    guard case .object(let before) = old, case .object(let after) = new,
      // The names of priorities and exported values are no keys; they are written with their node.
      !(before + after).contains(where: { $0.name.hasPrefix(".") }), !after.isEmpty
    else { return [(place, new)] }
    var changes: [(place: Path, value: JSONValue)] = []
    let added = after.filter { old[$0.name] == nil }
    for member in before + added {
      do {
        let child = try place.child(RunnelTree.Key(member.name))
        changes += try self.changes(
          from: old[member.name] ?? .null, to: new[member.name] ?? .null, at: child)
      } catch let refusal as Refusal {
        throw refusal
      } catch {
        throw Refusal("\(error)")
      }
    }
    return changes
  }
}
