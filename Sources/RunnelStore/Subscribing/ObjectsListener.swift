import RunnelTree

/// Listens to the objects of a query.
///
/// ```
///  loading --value--> loaded
/// ```
///
/// While loading, events only change what `ObjectsLoaded` will contain. After that each event
/// becomes an action of its own, whose `previous` names an object of an earlier action: children
/// that are not objects have a place in the order of the query, but not in that of the actions.
struct ObjectsListener<Object: TreeObject>: ObjectListener {
  let query: Query
  /// The rows until they are loaded; nil afterwards.
  private var loading: [Key: TreeRow]? = [:]
  private var order = ObjectOrder()
  /// The errors that the present batch told last, by their children: a child that is moved and changed by
  /// one write has two events.
  private var misfits: [Key: TreeError] = [:]

  init(query: Query) { self.query = query }

  /// The value is the last of the initial events; it tells that all rows have come.
  var source: ObjectSource {
    ObjectSource(
      request: ListenRequest(query: query, events: .all), type: ObjectIdentifier(Object.self))
  }

  var began: [any Action] { [ObjectSubscribed<Object>(query, isSubscribed: true)] }

  var ended: [any Action] { [ObjectSubscribed<Object>(query, isSubscribed: false)] }

  func failed(_ error: TreeError) -> [any Action] {
    [ObjectErrored<Object>(query, path: query.path, error: error)]
  }

  mutating func receive(_ events: [TreeEvent]) -> [any Action] {
    var actions: [any Action] = []
    misfits = [:]
    for event in events {
      if loading == nil {
        actions += told(event)
      } else if case .value = event {
        actions += load()
      } else if let row = event.row {
        if case .childRemoved = event {
          loading?[row.key] = nil
        } else {
          loading?[row.key] = row
        }
      }
    }
    return actions
  }

  private mutating func load() -> [any Action] {
    let rows = (loading ?? [:]).values.sorted { $0.position < $1.position }
    loading = nil
    var entries: [ObjectEntry<Object>] = []
    var errors: [any Action] = []
    for row in rows {
      switch Object.read(row, in: query.path) {
      case .success(let object): entries.append(ObjectEntry(id: row.key, object: object))
      case .failure(let error): errors.append(errored(row.key, error))
      }
      order.append(row.position, row.key, isObject: entries.last?.id == row.key)
    }
    return [ObjectsLoaded<Object>(query, entries: entries)] + errors
  }

  private func errored(_ key: Key, _ error: TreeError) -> any Action {
    ObjectErrored<Object>(
      query, path: Path(unchecked: query.path.keys + [key]), error: error)
  }
}

// MARK: Telling one event

extension ObjectsListener {
  private mutating func told(_ event: TreeEvent) -> [any Action] {
    switch event {
    case .childAdded(let row, _), .childChanged(let row, _), .childMoved(let row, _):
      let object = Object.read(row, in: query.path)
      let old = order.remove(row.key)
      order.insert(row.position, row.key, isObject: (try? object.get()) != nil)
      return told(row, object, old)
    case .childRemoved(let row):
      misfits[row.key] = nil
      guard let old = order.remove(row.key) else { return [] }
      let object = old.isObject ? try? Object.read(row, in: query.path).get() : nil
      return [ObjectRemoved<Object>(query, id: row.key, object: object)]
    case .value, .page, .pending, .answered: return []
    }
  }

  /// The actions for a row that is new or changed, after it has been put in its place.
  private mutating func told(
    _ row: TreeRow, _ object: Result<Object, TreeError>, _ old: ObjectOrder.Row?
  ) -> [any Action] {
    switch object {
    case .success(let object):
      misfits[row.key] = nil
      let entry = ObjectEntry(id: row.key, object: object)
      guard let old, old.isObject else {
        return [ObjectAdded<Object>(query, entry, previous: order.object(before: row))]
      }
      if old.position == row.position { return [ObjectChanged<Object>(query, entry)] }
      return [ObjectMoved<Object>(query, entry, previous: order.object(before: row))]
    case .failure(let error):
      let wasObject = old?.isObject == true
      let removed: [any Action] =
        wasObject ? [ObjectRemoved<Object>(query, id: row.key, object: nil)] : []
      if !wasObject, misfits[row.key] == error { return [] }
      misfits[row.key] = error
      return removed + [errored(row.key, error)]
    }
  }
}
