import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of some of several records that are imported together.
struct ImportedWrite: WriteKind {
  /// The indices of the records.
  let rows: Range<Int>

  var place: String { "import \(rows)" }
  var isOneOfMany: Bool { true }
  /// The refused rows of an import go to a file.
  var isKept: Bool { false }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    Importing.noteImport(&state, of: rows)
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    Importing.noteFailure(&state, toImport: rows, write.refusal)
  }
}

/// The write of a refused record of a paste that is tried again.
struct PastedWrite: WriteKind {
  let pasted: PastedRecord

  var place: String { "pasted \(pasted.id)" }
  var title: String? { pasted.title }
  var typed: [String] { pasted.refused.text.split(separator: "\n").map(String.init) }
  var isEditable: Bool { pasted.row != nil }
  var isOneOfMany: Bool { true }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] {
    added(key, to: pasted.collection)
  }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    state.say(.info, state.database.addedWords)
  }

  func editAgain(_ state: inout AppState, _ item: WriteQueue.Refused) {
    Importing.editAgain(&state, pasted, item)
  }
}
