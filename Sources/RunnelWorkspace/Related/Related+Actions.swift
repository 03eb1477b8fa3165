import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What belongs to an open record: found, counted and opened.

extension Related {
  /// Returns what belongs to the record at a place: the lists of views with parameters, the
  /// collections of its members, and the collections whose records refer to it.
  ///
  /// Of collections with names that the record does not know, those that a list shows are found.
  static func all(_ state: AppState, of path: Path) -> [Related] {
    guard let key = path.lastKey else { return [] }
    let lists = lists(state, of: path, key)
    let book = state.database.resources
    guard book.place(ofRecordAround: path) == path, let record = book.record(at: path) else {
      return lists
    }
    let shown = Set(lists.map(\.path))
    let members = members(book, of: record.definition, record.identity)
      .filter { !shown.contains($0.path) }
    return lists + members + references(state, to: record.definition, key)
  }

  private static func lists(
    _ state: AppState, of path: Path, _ key: RunnelTree.Key
  ) -> [Related] {
    let tabs = state.tabs
    return tabs.lists.indices.flatMap { index -> [Related] in
      let list = tabs.lists[index]
      guard list.definition.source.path == path.parent else { return [] }
      return tabs.viewsBelow(index).compactMap { view in
        guard let name = view.rowParameter(below: list.definition) else { return nil }
        return Related(
          kind: .view(view.name, list: index), title: view.name,
          path: view.source.path.bound(to: [name: key]), key: key)
      }
    }
  }

  private static func members(
    _ book: ResourceBook, of resource: ResourceDefinition, _ identity: ResourceIdentity
  ) -> [Related] {
    book.registry.definitions.compactMap { other in
      var names = identity.names
      let own = other.primary.names.filter {
        book.registry.parent(of: $0, in: other) == resource.name
      }
      for name in own { names[name] = identity.key }
      guard let collection = try? other.primary.collection(names: names),
        own.contains(where: { other.primary.isCollection(below: $0) })
      else { return nil }
      return Related(kind: .collection, title: other.name, path: collection, key: identity.key)
    }
  }

  private static func references(
    _ state: AppState, to resource: ResourceDefinition, _ key: RunnelTree.Key
  ) -> [Related] {
    let registry = state.database.resources.registry
    let shown = state.tabs.lists.map(\.definition.source.path)
    return registry.definitions.flatMap { other -> [Related] in
      let fields = other.schema.fields.filter { $0.kind == .reference(resource.name) }
      if fields.isEmpty { return [] }
      let fixed = [try? other.primary.collection(names: [:])].compactMap(\.self)
      let found = shown.filter {
        registry.resource(ofChildrenOf: $0)?.definition.name == other.name
      }
      let collections = Set(fixed + found).sorted()
      return fields.flatMap { rule in
        collections.map { collection in
          Related(
            kind: .references(field: Path(unchecked: [rule.field])),
            title: "\(other.name) by \(rule.field)", path: collection, key: key)
        }
      }
    }
  }

  // MARK: Counting

  /// Asks for the numbers of what belongs to an open record, which cost no reading of it.
  static func count(_ state: inout AppState, at layer: Int) {
    guard case .record(let screen) = state.layers[layer] else { return }
    for index in screen.related.indices {
      if case .references = screen.related[index].kind { continue }
      count(&state, index, at: layer)
    }
  }

  /// Counts the records under the cursor that refer to the open record.
  static func countAtCursor(_ state: inout AppState) {
    guard case .record(let screen)? = state.layers.last, let index = screen.cursorRelated else {
      return
    }
    count(&state, index, at: state.layers.count - 1)
  }

  /// The reason why there is nothing to count under the cursor, or nil if there is.
  static func reasonNotCounted(_ state: AppState) -> String? {
    guard case .record(let screen)? = state.layers.last, let index = screen.cursorRelated else {
      return "move to a list or a reference to count it"
    }
    return screen.related[index].count == .asked ? "it is being counted" : nil
  }

  private static func count(_ state: inout AppState, _ index: Int, at layer: Int) {
    guard case .record(var screen) = state.layers[layer] else { return }
    let counting = screen.related[index].counting
    screen.related[index].count = .asked
    state.layers[layer] = .record(screen)
    let id = state.requests.add(.count(screen.path, counting))
    state.effects.append(.count(id, counting))
  }

  /// Takes the number of records that belong to a record.
  static func take(_ state: inout AppState, _ count: Count, of path: Path, _ counting: Counting) {
    for (layer, value) in state.layers.enumerated() {
      guard case .record(var screen) = value, screen.path == path else { continue }
      for index in screen.related.indices where screen.related[index].counting == counting {
        screen.related[index].count = count
      }
      state.layers[layer] = .record(screen)
    }
  }

  // MARK: Opening

  /// Opens what belongs to the record in front and is under the cursor; returns false if the cursor is
  /// elsewhere.
  static func openAtCursor(_ state: inout AppState) -> Bool {
    guard case .record(let screen)? = state.layers.last, let index = screen.cursorRelated else {
      return false
    }
    let related = screen.related[index]
    switch related.kind {
    case .view(let name, let list):
      if let view = state.tabs.viewsBelow(list).first(where: { $0.name == name }) {
        DrillDown.open(&state, view, forRecord: screen.path, inList: list)
      }
    case .collection: go(&state, to: related.path)
    case .references(let field):
      guard go(&state, to: related.path) else { break }
      fit(&state, to: "\(field.text):\(FilterCompletion.quoted(related.key.text))")
    }
    return true
  }

  /// Goes to the list of a collection, or else to the collection in the tree; returns whether there is a
  /// list.
  @discardableResult
  private static func go(_ state: inout AppState, to path: Path) -> Bool {
    guard let list = state.tabs.lists.firstIndex(where: { $0.definition.source.path == path })
    else {
      Revealing.reveal(&state, path)
      return false
    }
    let before = state.place
    Input.change(&state, to: .view(list))
    guard state.layers.isEmpty else { return false }
    state.trail.places.note(before)
    Panes.focusPane(&state, .list)
    return true
  }

  /// Shows the records of a reference in the list in front, or the list as the user had it.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - reference: the filter by which the reference shows its records; nil for none.
  static func fit(_ state: inout AppState, to reference: String?) {
    guard let view = state.tabs.front.view else { return }
    guard let reference else { return giveBackFilter(&state, ofView: view) }
    do throws(FilterError) {
      let filter = try FilterScreen.filter(state, reference)
      let own = state.tabs.lists[view].ownFilter
      FilterScreen.showAndSearch(&state, filter)
      state.tabs.lists[view].filtering.reference = ReferenceFilter(text: reference, own: own)
    } catch {
      state.say(.warning, error.message)
    }
  }

  /// Gives a list the user's own filter back, if it shows what a reference opened.
  static func giveBackFilter(_ state: inout AppState, ofView view: Int) {
    guard state.tabs.lists.indices.contains(view),
      state.tabs.lists[view].shownReference != nil
    else { return }
    let own = state.tabs.lists[view].ownFilter
    state.tabs.lists[view].filtering.reference = nil
    FilterScreen.show(&state, own, inView: view)
  }
}

extension PathPattern {
  /// Whether the places of the pattern stand below a record with this name: the name is above the
  /// collection's last piece, or is that piece.
  fileprivate func isCollection(below name: String) -> Bool {
    let last = hasKey ? nil : pieces.last
    return pieces.contains(.name(name)) && last != .name(name)
  }
}

// MARK: - The page of a record

extension RecordScreen {
  /// The id of the section of what belongs to the record.
  static let relatedSection = "related"

  private static func relatedRow(_ index: Int) -> String { "related \(index)" }

  /// The index of what a row stands for, or nil if it is a field.
  ///
  /// O(what belongs to the record).
  func related(ofRow id: String) -> Int? {
    fields[id] != nil ? nil : related.indices.first { RecordScreen.relatedRow($0) == id }
  }

  /// The index of what is under the cursor and belongs to the record, or nil.
  var cursorRelated: Int? {
    guard case .row(let id)? = list.cursor else { return nil }
    return related(ofRow: id)
  }

  /// The section of what belongs to the record; nil if nothing does.
  var relatedListSection: ListSection? {
    related.isEmpty
      ? nil
      : ListSection(
        id: RecordScreen.relatedSection, rows: related.indices.map(RecordScreen.relatedRow))
  }
}
