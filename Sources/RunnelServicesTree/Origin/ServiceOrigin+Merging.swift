import RunnelBase
import RunnelServices
import RunnelTree

// What becomes of writes if others have changed the record since they were made: fields that one side has
// changed are kept, and a field that both have changed makes the write a refused one.
//
// Source: services protocol, section 11.5.

/// A record after writes, or the first write that changes what another has changed since it was made.
enum MergedRecord {
  case node(Node)
  case conflict(id: Int64, TreeError)
}

extension ServiceOrigin {
  /// Makes writes of a record on what stands there now.
  ///
  /// - Throws: `TreeError` if they cannot be made, or there is no record that could be changed.
  func merged(
    _ jobs: [ServiceWrites.Job], of record: RecordID, on current: Node, _ now: Int64
  ) throws(TreeError) -> MergedRecord {
    let place = ServiceMirror.place(record.service, record.key)
    var tree = MemoryTree(Node.empty.replacing(place, with: current))
    for job in jobs {
      for edit in job.items[job.done].edits {
        let theirs = tree.root[place]
        if theirs.isEmpty, !edit.below.isEmpty {
          throw TreeError(
            .notFound, "The record is not there any more, so its fields cannot be changed.",
            path: place.description)
        }
        let path = Path(unchecked: place.keys + edit.below)
        do throws(RecordMerge.Conflict) {
          if let node = try merged(edit, of: job.id, record, theirs, current) {
            tree.perform(Assignment(path: path, target: .node(node)))
            continue
          }
        } catch {
          if edit.isRemoval, job.id != jobs[0].id {
            // What was written before a removal is not sent without it.
            return .conflict(id: jobs[0].id, ServiceOrigin.removalConflict)
          }
          let field = Path(unchecked: edit.below + error.field.keys)
          return .conflict(id: job.id, ServiceOrigin.conflict(field, error.theirs))
        }
        for part in try Write.set(path, edit.json).assignments(now: now, reader: tree) {
          tree.perform(part)
        }
      }
    }
    return .node(tree.root[place])
  }

  /// What an edit leaves at its place; nil if it is made as it is.
  private func merged(
    _ edit: ServiceWrites.Edit, of id: Int64, _ record: RecordID, _ theirs: Node, _ current: Node
  ) throws(RecordMerge.Conflict) -> Node? {
    let field = Path(unchecked: edit.below)
    guard let change = edit.change else {
      // Without a base, only what has changed since the write was sent is known.
      guard let check = checks[record], edit.base == nil else { return nil }
      let now = current[field]
      if check.base[field] == now || (try? Node(json: edit.json)) == now { return nil }
      throw RecordMerge.Conflict(field: .root, theirs: now)
    }
    do throws(RecordMerge.Conflict) {
      return try RecordMerge(change, onto: theirs[field]).merged()
    } catch {
      if isOwn(theirs[field], change, of: id, record) { return nil }
      throw error
    }
  }

  /// True if a write of a record, or a later one of those that wait, has left a node: it was done, but its
  /// answer was lost.
  private func isOwn(
    _ node: Node, _ change: NodeChange, of id: Int64, _ record: RecordID
  ) -> Bool {
    var state = change.before
    for job in queue.jobs(of: record) where job.id >= id {
      let item = job.items.dropFirst(job.done).first { $0.record == record }
      for edit in item?.edits ?? [] {
        guard let later = edit.change else { return false }
        let part = Assignment(path: later.path, target: .node(later.after))
        state = part.projected(onto: state, at: change.path)
      }
      if RecordMerge.isSame(state, node, at: change.path) { return true }
    }
    return false
  }

  private static let removalConflict = TreeError(
    .overwritten,
    "Another has changed the record meanwhile, and it was removed here after this, so neither was written: "
      + "look at it first.")

  private static func conflict(_ field: Path, _ now: Node) -> TreeError {
    if field.isRoot {
      return TreeError(
        .overwritten,
        now.isEmpty
          ? "Another has removed the record meanwhile, so it was not written."
          : "Another has changed the record meanwhile, so it was not written: look at it first.")
    }
    let name = ServiceRun.name(of: field)
    let text = ServiceRecordCoding.decoded(now.json).jsonText()
    let value = now.isEmpty ? "is gone" : "is \(text.prefix(200)) now"
    return TreeError(
      .overwritten,
      "Another has changed the same field meanwhile, so it was not written: \(name) \(value).")
  }
}
