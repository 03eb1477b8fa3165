import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

// The translation of the workspace's requests into those of the database.

extension Request {
  /// Returns the request to the database whose answer carries the number; `newKey` makes keys for
  /// new records.
  func databaseRequest(
    _ number: Int, _ registry: ResourceRegistry, newKey: () -> RunnelTree.Key
  ) -> DatabaseRequest {
    switch self {
    case .write(let write): write.databaseRequest(number, registry, newKey: newKey)
    case .dropPending(let id): .dropPending(number, id)
    case .dropRefused(let id): .dropRefused(number, id)
    case .value(let path): .get(number, path)
    case .excerpt(let path):
      .excerpt(number, path, textMax: TreePreview.textMax, countMax: TreePreview.countMax)
    case .records(let path, let countMax): .search(number, Query(path).first(countMax))
    case .history(let path, let before, let count):
      .history(number, path, before: before, count: count)
    case .orders(let path): .orders(number, path)
    }
  }
}

extension WriteRequest {
  fileprivate func databaseRequest(
    _ number: Int, _ registry: ResourceRegistry, newKey: () -> RunnelTree.Key
  ) -> DatabaseRequest {
    switch self {
    case .set(let path, let json): .write(number, .set(path, json))
    case .update(let path, let members): .write(number, .update(path, members))
    case .remove(let path): .writeIf(number, .remove(path), [.known(at: path)])
    case .push(let path, let json): .push(number, path, json)
    case .pushAll(let path, let values): .pushAll(number, path, values)
    case .removeAll(let path, let keys):
      .writeIf(number, .update(path, keys.map { JSONMember($0.text, .null) }), path.known(keys))
    case .operation(let operation): .perform(number, operation, registry)
    case .append(let identity, let field, let json):
      .perform(number, registry.appending(json, under: newKey(), to: field, of: identity), registry)
    case .undo(let entry): .undo(number, entry, registry)
    case .undoWrite(let entry): .undoWrite(number, entry: entry, registry)
    case .guarded(let request, let conditions):
      request.databaseRequest(number, registry, if: conditions)
        ?? request.databaseRequest(number, registry, newKey: newKey)
    case .taking(let ids, let isRequired, let request):
      .taking(
        RefusedTaking(ids, isRequired: isRequired),
        request.databaseRequest(number, registry, newKey: newKey))
    }
  }

  /// Returns the request under conditions, or nil if it adds something new, which is done
  /// unconditionally.
  private func databaseRequest(
    _ number: Int, _ registry: ResourceRegistry, if conditions: [WriteCondition]
  ) -> DatabaseRequest? {
    switch self {
    case .set(let path, let json): .writeIf(number, .set(path, json), conditions)
    case .update(let path, let members): .writeIf(number, .update(path, members), conditions)
    case .remove(let path): .writeIf(number, .remove(path), conditions + [.known(at: path)])
    case .removeAll(let path, let keys):
      .writeIf(
        number, .update(path, keys.map { JSONMember($0.text, .null) }),
        conditions + path.known(keys))
    case .operation(let operation): .performIf(number, operation, registry, conditions)
    case .push, .pushAll, .append, .undo, .undoWrite, .guarded, .taking: nil
    }
  }
}

extension Path {
  /// The conditions under which children are removed: what others wrote, and is not known here, is not removed
  /// with them.
  fileprivate func known(_ keys: [RunnelTree.Key]) -> [WriteCondition] {
    keys.map { .known(at: Path(unchecked: self.keys + [$0])) }
  }
}

extension ResourceRegistry {
  /// Returns the update that adds a value to a field of a record, under a key.
  fileprivate func appending(
    _ json: JSONValue, under key: RunnelTree.Key, to field: Path, of identity: ResourceIdentity
  ) -> ResourceOperation {
    let place = Path(unchecked: field.keys + [key])
    return operation(
      .update, on: identity, value: .object([JSONMember(place.text, json)]))
  }
}

extension Query {
  /// Returns the query for the first children by key.
  fileprivate func first(_ count: Int) -> Query {
    do {
      return try ordered(by: .key).limited(to: count, from: .first)
    } catch {
      preconditionFailure("The order of keys takes every limit: \(error)")
    }
  }
}

extension Performed {
  /// Makes the result of a plan, with entries as a log has them at a time.
  init(_ plan: ResourcePlan, at now: Int64, by author: String) {
    self.init(
      path: plan.path, resource: plan.identity.resource, kind: plan.changes.first?.kind,
      changes: plan.changes.map { ActionLogEntry(of: $0, at: now, author: author) })
  }
}
