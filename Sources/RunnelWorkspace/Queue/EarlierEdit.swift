import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Finds how what an earlier write wrote is edited again: in the line of a list, in a form, or as text.
///
/// The typed text is not kept with a write that is on disk, so it is read from the write itself.
struct EarlierEdit {
  /// The most places of a write that is edited again.
  private static let placesMax = 100

  let write: PendingWrite
  /// The values of the write, with their places.
  let members: [(path: Path, value: JSONValue)]

  /// Reads a write; nil if it writes priorities, or too many places to be typed.
  init?(_ write: PendingWrite) {
    guard let members = write.members, members.count <= EarlierEdit.placesMax else { return nil }
    self.write = write
    self.members = members
  }

  /// Reads a refused write; of several records of a service, what it does to the one that was refused.
  init?(ofRefused write: PendingWrite, _ state: AppState) {
    self.init(RefusedRecord(write, state)?.first ?? write)
  }

  /// Returns the purpose of the write as if it had been typed just now; nil if it was not typed, or not
  /// in one place.
  func purpose(_ state: AppState, as id: AppRequestID) -> WritePurpose? {
    composed(state, as: id) ?? field(state).map { .edit(record: $0.record, $0.edit) }
      ?? value(state, as: id) ?? record(state, as: id) ?? text(state)
  }

  /// The node upon which the write was made at a place; nil if it is not known.
  func base(of path: Path) -> RunnelTree.Node? { write.base(of: path) }

  // MARK: In the line of a list

  private func composed(_ state: AppState, as id: AppRequestID) -> WritePurpose? {
    for (view, screen) in state.tabs.lists.enumerated() {
      guard let field = screen.definition.compose else { continue }
      for member in members where member.path.parent == screen.definition.source.path {
        if base(of: member.path)?.isEmpty == false { continue }
        let value = field.keys.reduce(member.value as JSONValue?) { $0?[$1.text] }
        guard let text = value?.string, !text.isEmpty,
          isComposed(member.value, screen.definition, state.database.resources.registry)
        else { continue }
        return .send(view: view, text: text, attempt: id)
      }
    }
    return nil
  }

  /// Returns whether a record has no fields but those that the line of a view gives it.
  private func isComposed(
    _ record: JSONValue, _ definition: ViewDefinition, _ registry: ResourceRegistry
  ) -> Bool {
    var names = Set(definition.template.compactMap { $0.path.keys.first?.text })
    if let name = definition.compose?.keys.first?.text { names.insert(name) }
    let resource = registry.resource(ofChildrenOf: definition.source.path)?.definition
    if let resource { names.formUnion(registry.ownedFields(of: resource.name).map(\.text)) }
    return (record.object ?? []).allSatisfy { member in
      if names.contains(member.name) { return true }
      // The resource gives a new record its initial values.
      guard let key = try? RunnelTree.Key(member.name) else { return false }
      return resource?.schema.rule(of: key)?.initial != nil
    }
  }

  // MARK: In a form

  private func value(_ state: AppState, as id: AppRequestID) -> WritePurpose? {
    guard let member = onlyTyped(state), let base = base(of: member.path) else { return nil }
    switch member.value {
    case .null, .array, .object: return nil
    case .bool, .number, .string: break
    }
    // A value that is no leaf was not typed into a form.
    guard let leaf = (try? RunnelTree.Node(json: member.value))?.leaf,
      base.isEmpty || base.leaf != nil
    else { return nil }
    let input = TreeScreen.input(state, for: leaf, at: member.path)
    var form = FormScreen(
      purpose: .setLeaf(member.path, original: base.json), title: "Edit \(member.path)",
      fields: [FormScreen.Field("value", input)])
    form.attempt = id
    return .form(form)
  }

  /// The only value of the write that was typed; nil if there are several, or none.
  func onlyTyped(_ state: AppState) -> (path: Path, value: JSONValue)? {
    let typed = members.filter { isTyped($0.path, $0.value, state.database.resources) }
    return typed.count == 1 ? typed.first : nil
  }

  /// Returns whether a value can be typed, and does not follow from another one.
  private func isTyped(_ path: Path, _ value: JSONValue, _ resources: ResourceBook) -> Bool {
    if value[ReservedName.serverValue] != nil { return false }
    switch resources.registry.place(of: path) {
    case .free: return true
    case .record(let identity, let field):
      return !field.isRoot && resources.reasonNotEdited(field, of: identity.resource) == nil
    case .copy, .log, .above: return false
    }
  }

  // MARK: As text

  private func text(_ state: AppState) -> WritePurpose? {
    let registry = state.database.resources.registry
    let isFree = members.allSatisfy { registry.place(of: $0.path) == .free }
    guard isFree, let whole else { return nil }
    if whole.new == .null || whole.new == .object([]) { return nil }
    return .editOutside(
      OutsideEdit(path: whole.path, original: state.database.coding.shown(whole.old)),
      text: state.database.coding.shown(whole.new).jsonText(pretty: true) + "\n")
  }

  /// The values before and after at the one place of the write; nil if a value is not known, or the
  /// write goes further down.
  ///
  /// Of a record that was changed in part, only the changed fields: nothing else is written.
  private var whole: (path: Path, old: JSONValue, new: JSONValue)? {
    switch write.write {
    case .set(let path, let value):
      if let base = base(of: path) { return (path, base.exportJSON, value) }
      // Where nothing is known, a record is a new one: what stands there is compared before the write.
      return value.object == nil ? nil : (path, .null, value)
    case .update(let path, let updated):
      if members.contains(where: { $0.path.parent != path }) { return nested }
      var (old, new): ([JSONMember], [JSONMember]) = ([], [])
      for member in members {
        guard member.path.parent == path, let name = member.path.lastKey?.text,
          let base = base(of: member.path)
        else { return nil }
        if !base.isEmpty { old.append(JSONMember(name, base.exportJSON)) }
        if member.value != .null { new.append(JSONMember(name, member.value)) }
      }
      return updated.isEmpty ? nil : (path, .object(old), .object(new))
    case .copy, .move: return nil
    }
  }

  /// The values before and after below the place that holds all places of the write: those of several records, or of
  /// fields further down; nil if a value is not known, or computed by the origin.
  private var nested: (path: Path, old: JSONValue, new: JSONValue)? {
    guard var place = members.first?.path.parent else { return nil }
    for member in members {
      while let above = place.parent, !place.contains(member.path) || place == member.path {
        place = above
      }
    }
    var (old, new) = (RunnelTree.Node.empty, RunnelTree.Node.empty)
    for member in members {
      guard let below = member.path.relative(to: place), !below.isRoot,
        let base = base(of: member.path), let value = try? RunnelTree.Node(json: member.value)
      else { return nil }
      old = old.replacing(below, with: base)
      new = new.replacing(below, with: value)
    }
    return (place, old.exportJSON, new.exportJSON)
  }
}
