import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Further commands for a row: duplicating it, opening its links, and going to the records it refers
// to.

/// Runs the commands for the row under the cursor, in lists, trees and records.
enum RowCommands {
  // MARK: Copies

  /// The place to duplicate, and its value if it is known; nil if there is none.
  private static func originalAtHand(_ state: AppState) -> (path: Path, node: RunnelTree.Node?)? {
    if case .record(let screen)? = state.layers.last { return (screen.path, screen.node) }
    if let list = state.tabs.frontList {
      return list.cursorRecord.map { ($0.path, $0.row.node) }
    }
    guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return nil }
    return (path, nil)
  }

  static func reasonNotDuplicated(_ state: AppState) -> String? {
    guard let path = originalAtHand(state)?.path, let parent = path.parent else {
      return "move to a record to duplicate it"
    }
    if originalAtHand(state)?.node?.isEmpty == true { return "\(path) is gone" }
    if let reason = state.reasonReadOnly { return reason }
    if state.layers.isEmpty, let reason = TreeListing.reasonNotWhole(state, [path]) {
      return reason
    }
    do throws(Refusal) {
      _ = try state.database.resources.adding(.object([]), to: parent)
      return SharedCommands.reasonBeingRead(state)
    } catch {
      return error.message
    }
  }

  static func duplicate(_ state: inout AppState) {
    guard let original = originalAtHand(state) else { return }
    if let node = original.node { return addCopy(&state, of: original.path, node.exportJSON) }
    state.read(original.path, for: .duplicate)
  }

  /// Adds a copy of a value beside it, with new computed fields.
  static func addCopy(_ state: inout AppState, of path: Path, _ json: JSONValue?) {
    guard let json, json != .null, let parent = path.parent else {
      return state.say(.info, "\(path) is gone")
    }
    if state.refusesWriting() { return }
    do throws(Refusal) {
      state.submit(
        .duplicate(path),
        try state.database.resources.adding(
          copy(state, of: withoutID(state, json, path), in: parent), to: parent))
    } catch {
      state.say(.info, error.message)
    }
  }

  /// Returns a record of a service without its id, which the server gives a new one; all else as it is.
  private static func withoutID(_ state: AppState, _ json: JSONValue, _ path: Path) -> JSONValue {
    guard state.database.coding == .services, case .object(let members) = json else { return json }
    return .object(
      members.filter { member in
        !["_id", "id", "uuid"].contains(member.name)
          || FieldKind.text(of: member.value) != path.lastKey.map { WritableKey.name(of: $0.text) }
      })
  }

  /// Returns a copy of a record without its computed fields.
  private static func copy(_ state: AppState, of json: JSONValue, in collection: Path) -> JSONValue
  {
    guard case .object(var members) = json else { return json }
    if let schema = state.database.resources.registry.resource(ofChildrenOf: collection)?.definition
      .schema
    {
      members.removeAll { member in
        guard let key = try? RunnelTree.Key(member.name),
          case .object? = schema.rule(of: key)?.initial
        else { return false }
        return true
      }
    }
    for field in computedFields(state, in: collection) {
      let value = field.value == .string("$me") ? JSONValue.string(state.database.me) : field.value
      members.put(value, at: field.path.keys[...])
    }
    return .object(members)
  }

  /// The fields of a collection's new records that the view computes: the user's name, the time.
  private static func computedFields(_ state: AppState, in collection: Path) -> [TemplateField] {
    state.tabs.lists.first { $0.definition.source.path == collection }?
      .definition.template.filter(\.isComputed) ?? []
  }

  /// The words that name the fields of a copy that differ from the original; empty if none do.
  static func wordsOnComputedFields(_ state: AppState, in collection: Path) -> String {
    let names = computedFields(state, in: collection).map { $0.path.text }
    return names.isEmpty ? "" : " · set anew: \(names.joined(separator: ", "))"
  }

  // MARK: Links

  /// Returns the first link in the field under the cursor, or else in the record; nil if there is
  /// none.
  private static func linkAtHand(_ state: AppState) -> String? {
    if case .record(let screen)? = state.layers.last {
      let field = screen.cursorField?.leaf.flatMap { WebLink.first(in: RunnelTree.Node($0)) }
      return field ?? screen.node.flatMap { WebLink.first(in: $0) }
    }
    if let list = state.tabs.frontList {
      return list.cursorRecord?.row.node.flatMap { WebLink.first(in: $0) }
    }
    guard case .node(_, let row, _)? = state.tabs.tree.cursorLine,
      case .leaf(let leaf) = row.summary.kind
    else { return nil }
    return WebLink.first(in: RunnelTree.Node(leaf))
  }

  static func reasonNoLink(_ state: AppState) -> String? {
    linkAtHand(state) == nil ? "there is no link here" : nil
  }

  /// Opens the first link in the browser.
  static func openLink(_ state: inout AppState) {
    if let link = linkAtHand(state) { state.effects.append(.openLink(link)) }
  }

  static func copyLink(_ state: inout AppState) {
    if let link = linkAtHand(state) { state.effects.append(.copy(link, what: "link \(link)")) }
  }

  /// Handles a link that was opened in the browser; if there is no browser, copies it.
  static func finish(_ state: inout AppState, opening link: String, by program: String?) {
    if let program { return state.say(.info, "opened \(link) by \(program)") }
    state.effects.append(.copy(link, what: "link \(link), which no browser is here for"))
  }

  // MARK: References

  /// Returns the records that the field under the cursor refers to, or else the record, without
  /// repetition.
  static func referencesAtHand(_ state: AppState) -> [Path] {
    var found: [Path] = []
    switch state.layers.last {
    case .record(let screen)?:
      if let field = screen.cursorField, let leaf = field.leaf {
        found = [reference(state, at: screen.path, field.path, leaf)].compactMap(\.self)
      }
      if found.isEmpty, let node = screen.node {
        found = references(state, in: node, at: screen.path)
      }
    case nil where state.tabs.front == .tree:
      guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine,
        case .leaf(let leaf) = row.summary.kind
      else { return [] }
      let record = state.database.resources.place(ofRecordAround: path) ?? .root
      let field = path.relative(to: record) ?? path
      found = [state.database.resources.reference(at: record, field, leaf)].compactMap(\.self)
    case nil:
      guard let record = state.tabs.frontList?.cursorRecord, let node = record.row.node else {
        return []
      }
      found = references(state, in: node, at: record.path)
    default: break
    }
    var known: Set<Path> = []
    return found.filter { known.insert($0).inserted }
  }

  private static func references(
    _ state: AppState, in node: RunnelTree.Node, at path: Path
  ) -> [Path] {
    node.children.compactMap { child in
      child.node.leaf.flatMap { reference(state, at: path, Path(unchecked: [child.key]), $0) }
    }
  }

  /// Returns the record that a value refers to: by the rule of its field, as a path, as the key of a loaded
  /// row of the same list, or as the key of a record in the collection with the name of the field.
  private static func reference(
    _ state: AppState, at record: Path, _ field: Path, _ leaf: Leaf
  ) -> Path? {
    if let path = state.database.resources.reference(at: record, field, leaf) { return path }
    guard case .string(let text) = leaf, let key = try? RunnelTree.Key(text) else { return nil }
    if let list = state.tabs.frontList, let place = record.parent, text != record.lastKey?.text,
      list.definition.source.path == place
    {
      let other = Path(unchecked: place.keys + [key])
      if list.hasRow(Record.id(of: other)) { return other }
    }
    return named(state, field, key)
  }

  /// Returns the record with a key in the collection that has the name of a field, in the singular or the
  /// plural: `/firings/F029` for the field `Firing`; nil if there is no such collection, or if it is known
  /// not to have the key.
  private static func named(_ state: AppState, _ field: Path, _ key: RunnelTree.Key) -> Path? {
    guard field.keys.count == 1, let name = field.lastKey?.text.lowercased() else { return nil }
    let names = [name, name + "s", name + "es", String(name.dropLast()) + "ies"]
    for list in state.tabs.lists {
      let path = list.definition.source.path
      guard let last = path.lastKey?.text.lowercased(), names.contains(last) else { continue }
      let record = Path(unchecked: path.keys + [key])
      let isWhole = list.reach.phase == .loaded && list.isComplete && list.remembersAllRows
      let isHidden = list.filtering.hidden[Record.id(of: record)] != nil
      if !isWhole || isHidden || list.hasRow(Record.id(of: record)) { return record }
    }
    return nil
  }

  static func reasonNoReference(_ state: AppState) -> String? {
    referencesAtHand(state).isEmpty ? "nothing here refers to another record" : nil
  }

  static func followReference(_ state: inout AppState) {
    let places = referencesAtHand(state)
    if places.count == 1 { return ListScreen.open(&state, record: places[0], nil) }
    state.input.matcher.reset()
    let items = places.map { MenuList.Item(id: $0.description, title: $0.description) }
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .references, title: "Go to",
          menu: MenuList(items))))
  }

  // MARK: Writing on and off

  /// Turns writing off, or on again if the database was opened for writing.
  static func toggleReadOnly(_ state: inout AppState) {
    state.database.isReadOnly.toggle()
    let keys = state.keysOrName(.profileReadonly)
    state.say(
      .info,
      state.database.isReadOnly ? "read-only: \(keys) turns writing on" : "writing is on again")
  }
}

extension ResourceBook {
  /// Returns the record that a value refers to, by the rule of its field or as a path, or nil if
  /// there is none.
  fileprivate func reference(at record: Path, _ field: Path, _ leaf: Leaf) -> Path? {
    guard case .string(let text) = leaf else { return nil }
    if let key = field.keys.first, field.keys.count == 1,
      let rule = self.record(at: record)?.definition.schema.rule(of: key),
      case .reference(let target) = rule.kind,
      let collection = try? registry.collection(of: target, in: [:]),
      let name = try? RunnelTree.Key(text)
    {
      return try? collection.child(name)
    }
    guard text.first == "/", let path = try? Path(text), !path.isRoot else { return nil }
    return path
  }
}

// MARK: - Links in records

extension WebLink {
  /// Returns the first link in the texts of a record, in their order, or nil if there is none.
  package static func first(in node: RunnelTree.Node) -> String? {
    if case .string(let text)? = node.leaf { return first(in: text) }
    for child in node.children {
      if let link = first(in: child.node) { return link }
    }
    return nil
  }

  /// Returns all links in the texts of a record, in their order.
  package static func all(in node: RunnelTree.Node) -> [String] {
    if case .string(let text)? = node.leaf { return all(in: text) }
    return node.children.flatMap { all(in: $0.node) }
  }
}
