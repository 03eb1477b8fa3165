import RunnelBase
import RunnelServices
import RunnelTree

// Records that have just got their ids: writes made before that name their former keys, and were made without
// what the server has added.

extension ServiceOrigin {
  /// The greatest number of records whose former keys are known.
  private static let newKeysMax = 10_000

  /// Notes the key that the server has given a record.
  mutating func note(newKey key: Key, of record: RecordID) {
    if newKeys.count >= ServiceOrigin.newKeysMax { (newKeys, newChanges) = ([:], [:]) }
    newKeys[record] = key
  }

  /// The key at the server of a record that had another one, for edits that do not make it anew.
  func newKey(_ record: RecordID, _ edits: [ServiceWrites.Edit]) -> Key? {
    guard let key = newKeys[record], let first = edits.first,
      !first.below.isEmpty || first.json == .null
    else { return nil }
    return key
  }

  /// Notes what the server has made of a record beyond what was sent: for the writes that wait, no other has
  /// changed that.
  mutating func carry(_ change: NodeChange, to record: RecordID) {
    queue.carry(change, to: record)
    let name = ServiceOrigin.alias(record)
    guard newKeys[record] != nil || sent.aliases[name] != nil else { return }
    // Writes are on disk as they were made here: without what was added before.
    let earlier = sent.changes[name] ?? newChanges[record]
    let before = earlier?.takenBack(from: change.before, at: .root) ?? change.before
    let whole = NodeChange(path: .root, before: before, after: change.after)
    if newKeys[record] != nil { newChanges[record] = whole }
    guard sent.aliases[name] != nil else { return }
    sent.changes[name] = whole
    save()
  }

  /// Returns the items of a write as they are to be made upon records that have got their ids.
  ///
  /// What is made of a record under its former key, where nothing stands any more, is made upon no base.
  func renamed(_ items: [ServiceWrites.Item]) -> [ServiceWrites.Item] {
    items.map { item in
      let isMoved = newKey(item.record, item.edits) != nil
      let change = newChanges[item.record] ?? sent.changes[ServiceOrigin.alias(item.record)]
      if !isMoved, change == nil { return item }
      // What an earlier write replaces is not what the server has made.
      let isReplaced = queue.jobs(of: item.record).contains { job in
        job.items.contains { $0.record == item.record && $0.edits.contains(where: \.below.isEmpty) }
      }
      var item = item
      for (index, edit) in item.edits.enumerated() {
        guard let base = edit.base else { continue }
        if isMoved, base.isEmpty {
          item.edits[index].base = nil
        } else if let change, !isReplaced, !edit.below.isEmpty || !base.isEmpty {
          item.edits[index].base = change.carried(into: base, at: Path(unchecked: edit.below))
        }
      }
      return item
    }
  }

  /// Notes where the records of a refused write are: who keeps it names them so.
  mutating func noteNewPlaces(of job: ServiceWrites.Job) {
    for item in job.items.dropFirst(job.done) {
      guard let text = sent.aliases[ServiceOrigin.alias(item.record)], let key = try? Key(text),
        key != item.record.key
      else { continue }
      let service = item.record.service
      newPlaces[ServiceMirror.place(service, item.record.key)] = ServiceMirror.place(service, key)
    }
  }
}
