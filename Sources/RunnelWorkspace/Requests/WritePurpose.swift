package import RunnelBase
package import RunnelTree

/// The purpose of a write, which tells where its answer goes.
///
/// It keeps the typed text, to give it back if the write is refused.
package enum WritePurpose: Hashable, Sendable {
  /// An edit of a field in its place, in the record at a path.
  case edit(record: Path, RecordScreen.Edit)
  case form(FormScreen)
  /// A composed record; the id of the first attempt to send its text identifies it while it is
  /// refused.
  case send(view: Int, text: String, attempt: AppRequestID)
  case delete(Path)
  /// The deletion of some of several records that are deleted together.
  case deleteMarked([Path])
  /// Some of several records that are imported together, by their indices.
  case importRows(Range<Int>)
  /// A refused record of a paste that is tried again.
  case pasted(PastedRecord)
  /// An edit in the user's editor, and the edited text.
  case editOutside(OutsideEdit, text: String)
  /// Toggling the user's own record at another one, such as a like.
  case toggle
  /// The copy of the record at a path.
  case duplicate(Path)
  /// The new place of the record at a path among the rows of its list.
  case reorder(Path)
  /// The undo of an entry of the action log.
  case undo
  /// The result of a comparison, and the version of the others that it was made for.
  case merge(CompareDraft, theirs: JSONValue)
  /// The undo or redo of a part of a step.
  case reversal
  /// A write that was on disk already when the origin refused it.
  case earlier(PendingWrite)

  /// Whether the write moves a row to another place.
  var isReordering: Bool { if case .reorder = self { true } else { false } }

  /// The key that the user typed for the new record, or nil if there is none.
  var chosenKey: RunnelTree.Key? {
    guard case .form(let form) = self else { return nil }
    // A key that is not valid was refused in the form.
    return form.typedKey.flatMap { try? RunnelTree.Key($0) }
  }

  /// Whether the cursor goes to the record that the write adds.
  var addsRowToGoTo: Bool {
    switch self {
    case .duplicate: true
    case .form(let form):
      switch form.purpose {
      case .addRecord, .addResource(_, _, view: .some): true
      default: false
      }
    default: false
    }
  }
}
