package import RunnelBase
package import RunnelTree

/// What a write was for, so that its answer finds its place.
///
/// It keeps what was typed, to give it back if the write is refused.
package enum WritePurpose: Hashable, Sendable {
  /// A field that was edited in its place, in the record at a path.
  case edit(record: Path, RecordScreen.Edit)
  case form(FormScreen)
  /// A composed record; the first attempt to send its text stands for it as long as it is refused.
  case send(view: Int, text: String, attempt: AppRequestID)
  case delete(Path)
  /// One of several records that are deleted together.
  case deleteMarked(Path)
  /// One of several records that are imported together, by its place among them.
  case importRow(Int)
  /// A record of a paste that was refused, and is tried again.
  case pasted(PastedRecord)
  /// What was edited outside, and the text that came of it.
  case editOutside(OutsideEdit, text: String)
  /// A record that the user has at another, as a like.
  case toggle
  /// A copy of the record at a path.
  case duplicate(Path)
  /// An entry of the action log that was taken back.
  case undo
  /// What came of comparing three versions, and the version of the others that it was made for.
  case merge(CompareDraft, theirs: JSONValue)
  /// A part of a step that is taken back, or done again.
  case reversal
}
