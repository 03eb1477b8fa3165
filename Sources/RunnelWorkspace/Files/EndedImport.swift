import RunnelStreams
import RunnelTerminal
import RunnelTree

/// An import that has ended, of which some records were refused: these are written to a file beside the
/// imported one.
package struct EndedImport: Hashable, Sendable {
  /// The most refused records that the queue of writes shows if they could not be written to the file.
  private static let shownMax = 20

  /// The name of the imported file, and of the one with the refused records.
  let file: String
  let list: String
  /// The collection that the records were to be added to.
  let collection: Path
  /// What was done, in words.
  let done: String
  let doneCount: Int
  let refusedCount: Int
  /// The first refused records.
  let refused: [ImportPlan.Refused]
  /// Whether what was stored is a step of undo.
  let isUndoable: Bool

  init(
    _ progress: ImportProgress, of file: String, into collection: Path, done: String, at now: Int64,
    isUndoable: Bool
  ) {
    (self.file, self.collection, self.done) = (file, collection, done)
    // An existing file of refused records may have been corrected by hand, so each gets a new name.
    list = "\(file).refused-\(now).jsonl"
    (doneCount, refusedCount) = (progress.doneCount, progress.refused.count)
    refused = Array(progress.refused.prefix(EndedImport.shownMax))
    self.isUndoable = isUndoable
  }

  /// The refused records by their places and the reasons.
  var lines: [String] {
    let more = refusedCount - refused.count
    return refused.map { "\($0.place): \($0.reason)" } + (more > 0 ? ["and \(more) more"] : [])
  }

  /// The first refused record with its reason, behind other words; empty if there is none.
  private var first: String { lines.first.map { ": \($0)" } ?? "" }

  /// The words for an import whose refused records are still being written to the file.
  var words: String { "\(done); \(refusedCount) refused\(first)" }

  /// The words for an import whose refused records are in the file.
  var wordsIfListed: String { "\(done); \(refusedCount) refused and written to \(list)\(first)" }

  /// Takes whether the refused records were written to a file.
  ///
  /// If they were not, the queue keeps what is known of them.
  static func take(_ state: inout AppState, listed list: String, problem: String?) {
    guard let index = state.files.ended.firstIndex(where: { $0.list == list }) else { return }
    let ended = state.files.ended.remove(at: index)
    guard let problem else { return state.say(.error, ended.wordsIfListed) }
    let reason =
      "\(ended.done); \(ended.refusedCount) are not stored, and not listed in a file: \(problem)"
    let again = ended.isUndoable ? "before you import the file again" : "import the file again"
    state.writes.queue.keep(
      WriteQueue.Refused(
        id: state.requests.newID(), request: nil, refusal: Refusal(reason), at: state.now, tries: 1,
        purpose: .unlisted(ended)))
    QueueScreen.refreshQueue(&state)
    let kept = state.phrase(reason, .syncOpen, "keeps this")
    if !ended.isUndoable { return state.say(.error, "\(kept) · \(again)") }
    let undoing = "takes the \(ended.doneCount) back \(again)"
    state.say(.error, state.phrase("\(kept) · undo", .editUndo, undoing))
  }
}

/// The refused records of an import that are in no file, as an entry of the queue of writes.
struct UnlistedWrite: WriteKind {
  let ended: EndedImport

  var place: String { "refused \(ended.list)" }
  var title: String? {
    let records = ended.refusedCount == 1 ? "1 record" : "\(ended.refusedCount) records"
    return "\(records) into \(ended.collection), of \(ended.file)"
  }
  var typed: [String] { ended.lines }
  var isOneOfMany: Bool { true }
}
