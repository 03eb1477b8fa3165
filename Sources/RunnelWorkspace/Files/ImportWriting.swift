import RunnelBase
import RunnelTerminal
import RunnelTree

// The writes of an import: batches of records, halved when one is refused.

extension Importing {
  static func startImport(_ state: inout AppState, _ progress: ImportProgress) {
    if state.refusesWriting() { return }
    state.files.importing = progress
    submitBatch(&state)
  }

  /// Writes the next batch of records.
  private static func submitBatch(_ state: inout AppState) {
    guard let importing = state.files.importing, !importing.isStopped else {
      return endImport(&state)
    }
    let end = min(importing.next + ImportProgress.batchCount, importing.plan.rows.count)
    let batch = importing.next..<end
    if batch.isEmpty { return endImport(&state) }
    state.files.importing?.next = end
    state.files.importing?.waiting = batch.count
    submit(&state, rows: batch)
  }

  /// Requests writes of records as parts of the import's step of undo, and notes the records that
  /// make no valid request.
  private static func submit(_ state: inout AppState, rows: Range<Int>) {
    let (writes, failures) = writes(state, ofRows: rows)
    var step = state.files.importing?.step
    UndoHistory.joining(longStep: &step, &state) { state in
      for write in writes { state.submit(.importRows(write.rows), write.request) }
    }
    state.files.importing?.step = step
    for failure in failures { noteImport(&state, of: failure.rows, failure.reason) }
  }

  /// Returns the writes of records, and the records that make no valid request.
  ///
  /// Records that no resource describes are written together; each key is in a write once. A server refuses
  /// a write as a whole, and later: so what it gets is written one by one, unless it is much.
  private static func writes(
    _ state: AppState, ofRows rows: Range<Int>
  ) -> (
    writes: [(rows: Range<Int>, request: WriteRequest)],
    failures: [(rows: Range<Int>, reason: String)]
  ) {
    var writes: [(rows: Range<Int>, request: WriteRequest)] = []
    var failures: [(rows: Range<Int>, reason: String)] = []
    let isSingle =
      state.database.origin != nil && state.database.coding != .services
      && (state.files.importing?.plan.rows.count ?? 0) <= ImportProgress.singlesMax
    for index in rows {
      do {
        let request = try request(state, forRow: index)
        if !isSingle, let last = writes.last, last.rows.upperBound == index,
          let joined = last.request.joined(with: request)
        {
          writes[writes.count - 1] = (last.rows.lowerBound..<index + 1, joined)
        } else {
          writes.append((index..<index + 1, request))
        }
      } catch {
        failures.append((index..<index + 1, (error as? Refusal)?.message ?? "\(error)"))
      }
    }
    return (writes, failures)
  }

  static func request(_ state: AppState, forRow index: Int) throws -> WriteRequest {
    guard let importing = state.files.importing else { throw Refusal("the import is over") }
    let row = importing.plan.rows[index]
    let definition = state.tabs.lists[importing.view].definition
    var value = row.value
    if case .object(let members) = value {
      // Computed fields of new records get their values, unless the text has values for them.
      value = definition.record(
        filledWith: members.map { (Path(unchecked: [Key(unchecked: $0.name)]), $0.value) },
        me: state.database.me,
        isForm: true)
    }
    value = state.database.coding.stored(value, keepsNames: true)
    guard let key = row.key else {
      return try state.database.resources.adding(value, to: definition.source.path)
    }
    return try state.database.resources.setting(value, at: definition.source.path.child(Key(key)))
  }

  /// Notes that records were written, or refused for a reason.
  static func noteImport(_ state: inout AppState, of rows: Range<Int>, _ reason: String? = nil) {
    guard var progress = state.files.importing else { return }
    progress.waiting -= rows.count
    if let reason {
      progress.refused += progress.plan.rows[rows].map { row in
        ImportPlan.Refused(place: row.place, reason: reason, text: ImportPlan.text(of: row))
      }
    } else {
      progress.doneCount += rows.count
    }
    state.files.importing = progress
    guard progress.waiting == 0 else { return }
    if progress.next < progress.plan.rows.count {
      state.say(
        .info, "imported \(progress.doneCount) of \(progress.plan.rows.count)\(stopHint(state))")
    }
    submitBatch(&state)
  }

  /// Notes that a write of records was refused.
  ///
  /// A write of several records is halved until the records that are to blame stand alone, unless the
  /// storage failed.
  static func noteFailure(
    _ state: inout AppState, toImport rows: Range<Int>, _ refusal: Refusal
  ) {
    if rows.count == 1 || refusal.cause.isOfStorage || state.database.isReadOnly {
      return noteImport(&state, of: rows, refusal.message)
    }
    let middle = rows.lowerBound + rows.count / 2
    submit(&state, rows: rows.lowerBound..<middle)
    submit(&state, rows: middle..<rows.upperBound)
  }

  /// What becomes of refused records, and of the undo.
  static func explanation(
    _ state: AppState, count: Int, isFile: Bool
  ) -> [StyledLine] {
    let isServers = state.database.origin != nil && state.database.coding != .services
    let areJoined = isServers && count > ImportProgress.singlesMax
    return [
      areJoined
        ? "They go in writes of \(ImportProgress.batchCount): one refused record takes back its write."
        : "A record that is refused stops no other.",
      "What \(isServers ? "the server refuses" : "is refused") is "
        + (isServers || !isFile ? "kept in the queue of writes" : "written beside the file")
        + ", with the reason.",
      "The import is one step of undo.",
    ].map { StyledLine($0, .muted) }
  }
}
