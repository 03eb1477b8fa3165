import RunnelTree

/// A kind of write: its words and flags, and what becomes of its answer.
///
/// Each kind stands in the folder of the component that asks for it. The extension below has the
/// defaults: nothing was typed for the write, a refused one is kept in the queue, and nothing else
/// happens when it is answered.
protocol WriteKind: Hashable, Sendable {
  /// A text that identifies the write when it is tried again.
  var place: String { get }
  /// The title in the queue of writes, or nil for that of the request.
  var title: String? { get }
  /// The lines that were typed for the write, for the queue of writes.
  var typed: [String] { get }
  /// The values that were typed for the write, with their places.
  var typedValues: [(path: Path, text: String)] { get }
  /// Whether the user can edit the typed text again.
  var isEditable: Bool { get }
  /// Whether it is the write of one record among many that a command writes.
  var isOneOfMany: Bool { get }
  /// Whether it replaces data, so that a profile with `confirm` asks before it.
  var replacesData: Bool { get }
  /// Whether it is kept in the queue if it is refused.
  var isKept: Bool { get }
  /// Whether the cursor goes to the record that it adds.
  var addsRowToGoTo: Bool { get }
  /// The key that the user chose for the new record, or nil if there is none.
  var chosenKey: RunnelTree.Key? { get }
  /// The index of the list that it is for, or nil if it is for no certain one.
  var list: Int? { get }
  /// The places that it deletes.
  var deletedPaths: [Path] { get }
  /// The refused write that it replaces if it is refused too, or nil if there is none.
  var replaced: AppRequestID? { get }

  /// Returns the typed text as a draft, or nil if it is not that of a form or a field.
  func draft(_ state: AppState) -> Draft?
  /// Returns the draft for a comparison with what others wrote, or nil if nothing can be compared.
  func comparison(_ state: AppState) -> CompareDraft?
  /// Returns the records that it changed; `key` is that of a new one.
  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path]
  /// Returns a refusal in the words of who asked for the write.
  func told(_ refusal: Refusal) -> Refusal

  /// Says what an operation did.
  func sayPerformed(_ state: inout AppState, _ performed: Performed)
  /// Continues after the write is on disk.
  func finish(_ state: inout AppState, _ write: FinishedWrite)
  /// Gives back what was typed after the write was refused, unless a comparison begins.
  func fail(_ state: inout AppState, _ write: FailedWrite)
  /// Gives back what was typed for a refused write of the queue.
  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused)
  /// Gives back what was typed for a write that the user did not agree to.
  func giveBack(_ state: inout AppState, _ refusal: Refusal)
}

/// A write that is on disk.
struct FinishedWrite {
  let id: AppRequestID
  /// The key of the record that it added, or nil.
  let key: RunnelTree.Key?
  /// Whether the cursor goes to that record: the user has done nothing else.
  let goesThere: Bool
}

/// A write that was refused.
struct FailedWrite {
  let id: AppRequestID
  let refusal: Refusal
  /// Whether the user has done nothing else since.
  let isUntouched: Bool
  /// Words about input that waited for the new row and was dropped; empty if there is none.
  let dropped: String
}

extension WriteKind {
  var title: String? { nil }
  var typed: [String] { [] }
  var typedValues: [(path: Path, text: String)] { [] }
  var isEditable: Bool { false }
  var isOneOfMany: Bool { false }
  var replacesData: Bool { false }
  var isKept: Bool { true }
  var addsRowToGoTo: Bool { false }
  var chosenKey: RunnelTree.Key? { nil }
  var list: Int? { nil }
  var deletedPaths: [Path] { [] }
  var replaced: AppRequestID? { nil }

  func draft(_ state: AppState) -> Draft? { nil }
  func comparison(_ state: AppState) -> CompareDraft? { nil }
  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] { [] }
  func told(_ refusal: Refusal) -> Refusal { refusal }

  func sayPerformed(_ state: inout AppState, _ performed: Performed) {}
  func finish(_ state: inout AppState, _ write: FinishedWrite) {}
  func fail(_ state: inout AppState, _ write: FailedWrite) {}
  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {}
  func giveBack(_ state: inout AppState, _ refusal: Refusal) {}

  /// Returns the place of a new record of a collection; empty if none was added.
  func added(_ key: RunnelTree.Key?, to collection: Path?) -> [Path] {
    guard let key, let collection else { return [] }
    return [Path(unchecked: collection.keys + [key])]
  }
}
