import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Editing a record or a node as JSON in the user's editor.

/// What is edited in the user's editor.
struct OutsideEdit: Hashable, Sendable {
  let path: Path
  /// What stood there when the edit began.
  let original: JSONValue
  /// What the user made of it, if that was refused when it was to be written.
  var refused: EditRound.Refused?

  /// What the editor shows at first.
  var text: String { original.jsonText(pretty: true) + "\n" }
}

extension AppState {
  /// Reads what the keys are about, to edit it as it is now and whole.
  mutating func editOutside() {
    guard let path = placeAtHand else { return }
    read(path, for: .editOutside)
  }

  /// The place of the record, or of the node of the tree, that the keys are about.
  var placeAtHand: Path? {
    if case .record(let screen)? = layers.last { return screen.path }
    if !isTree { return lists[active].cursorRecord?.path }
    guard case .node(let path, _, _)? = tree.cursorLine else { return nil }
    return path
  }

  mutating func startEditing(_ path: Path, _ value: JSONValue?) {
    guard let value, value != .null else { return say(.info, "\(path) is gone") }
    openEditor(OutsideEdit(path: path, original: value))
  }

  /// What is wrong with a text, before it is written; nil if nothing is.
  func problem(with text: String, in edit: OutsideEdit) -> String? {
    do {
      _ = try request(for: text, edit)
      return nil
    } catch let error as Refusal {
      return error.message
    } catch {
      return "\(error)"
    }
  }

  /// The write that a text asks for; nil if it says what stood there.
  private func request(for text: String, _ edit: OutsideEdit) throws -> WriteRequest? {
    try resources.replacing(edit.original, by: JSONValue(parsing: text), at: edit.path)
  }

  /// The user's editor has ended.
  mutating func finish(_ edit: OutsideEdit, _ outcome: ExternalEditor.Outcome) {
    isEditorOpen = false
    switch outcome {
    case .unchanged: say(.info, "nothing was changed")
    case .accepted(let text):
      // Writing may have been turned off since; the text is given back.
      if let reason = reasonReadOnly { return reopen(edit, text, Refusal(reason)) }
      do {
        guard let request = try request(for: text, edit) else {
          return say(.info, "nothing was changed")
        }
        let changes = try ResourceBook.changes(
          from: edit.original, to: JSONValue(parsing: text))
        let original = try RunnelTree.Node(json: edit.original)
        let conditions = changes.map { change in
          WriteCondition(
            Path(unchecked: edit.path.keys + change.place.keys), original[change.place].json)
        }
        submit(.editOutside(edit, text: text), .guarded(request, conditions))
      } catch let error as Refusal {
        reopen(edit, text, error)
      } catch {
        reopen(edit, text, Refusal("\(error)"))
      }
    case .kept(let file, let reason): say(.error, "not saved: \(reason) · your text is in \(file)")
    case .failed(let reason): say(.error, reason)
    }
  }

  /// Opens the editor again on a text that was refused, with the reason over it.
  mutating func reopen(_ edit: OutsideEdit, _ text: String, _ refusal: Refusal) {
    let reasons = refusal.fields.map { "\($0.name): \($0.message)" }
    var edit = edit
    edit.refused = EditRound.Refused(
      text, reason: ([refusal.message] + reasons).joined(separator: "\n"))
    openEditor(edit)
  }

  private mutating func openEditor(_ edit: OutsideEdit) {
    isEditorOpen = true
    effects.append(.editOutside(edit))
  }
}

// MARK: What is written

extension ResourceBook {
  /// Refuses places that are not edited as a whole.
  func checkEditable(_ path: Path) throws(Refusal) {
    switch registry.place(of: path) {
    case .free: return
    case .record(let identity, let field):
      if let reason = reasonNotEdited(field, of: identity.resource) { throw Refusal(reason) }
    case .above, .copy, .log: _ = try setting(.null, at: path)
    }
  }

  /// The request that writes what is different, and leaves what others may have changed meanwhile;
  /// nil if nothing is.
  func replacing(
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

  /// The outermost places at which two values differ, with what is to stand there.
  fileprivate static func changes(
    from old: JSONValue, to new: JSONValue, at place: Path = .root
  ) throws(Refusal) -> [(place: Path, value: JSONValue)] {
    if old == new { return [] }
    guard case .object(let before) = old, case .object(let after) = new,
      // Priorities and exported values have names that are no keys; they go with their node.
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
