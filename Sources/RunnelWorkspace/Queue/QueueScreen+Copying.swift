import RunnelBase
import RunnelStreams
import RunnelTree

// What the write under the cursor wrote, to be copied.

extension QueueScreen {
  /// The values of the write under the cursor of the queue in front, with their places; a removal has its place only.
  static func written(_ state: AppState) -> [CopiedValue] {
    guard case .queue(let screen)? = state.layers.last else { return [] }
    if let write = screen.cursorPending(in: state.writes.queue) { return values(of: write) }
    guard let item = screen.cursorWrite(in: state.writes.queue) else { return [] }
    if case .earlier(let write) = item.purpose { return values(of: write) }
    if let values = item.request?.written, !values.isEmpty { return values }
    return item.write.map(values) ?? []
  }

  private static func values(of write: PendingWrite) -> [CopiedValue] {
    let members = write.members ?? []
    // What the origin computes was not given, unless there is nothing else.
    let given = members.filter { $0.value[ReservedName.serverValue] == nil }
    return (given.isEmpty ? members : given).map { CopiedValue(path: $0.path, json: $0.value) }
  }
}

extension WriteRequest {
  /// The values that the request writes, with their places; those of new records with that of the collection.
  fileprivate var written: [CopiedValue] {
    switch self {
    case .set(let path, let json), .push(let path, let json):
      [CopiedValue(path: path, json: json)]
    case .update(let path, let members):
      members.compactMap { member in
        (try? Path(member.name)).map {
          CopiedValue(path: Path(unchecked: path.keys + $0.keys), json: member.value)
        }
      }
    case .pushAll(let path, let values): values.map { CopiedValue(path: path, json: $0) }
    case .remove(let path): [CopiedValue(path: path, json: .null)]
    case .removeAll(let path, let keys):
      keys.map { CopiedValue(path: Path(unchecked: path.keys + [$0]), json: .null) }
    case .operation(let operation):
      [
        CopiedValue(
          path: Path(unchecked: [operation.object.key].compactMap(\.self)),
          json: operation.object.value)
      ]
    case .append(_, let field, let json): [CopiedValue(path: field, json: json)]
    case .undo, .undoWrite: []
    case .guarded(let request, _), .taking(_, _, let request): request.written
    }
  }
}
