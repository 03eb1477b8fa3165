package import RunnelBase
package import RunnelTree

/// The purpose of a write, which tells where its answer goes.
///
/// It keeps the typed text, to give it back if the write is refused. This is the list of all kinds of
/// writes, and the only file that switches over them: a new one has a `WriteKind` in the folder of its
/// component, and its lines here.
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
  /// The refused records of an import that could not be written to a file.
  case unlisted(EndedImport)
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

  /// The kind of write.
  var kind: any WriteKind {
    switch self {
    case .edit(let record, let edit): FieldWrite(record: record, edit: edit)
    case .form(let form): FormWrite(form: form)
    case .send(let view, let text, let attempt):
      ComposedWrite(view: view, text: text, attempt: attempt)
    case .delete(let path): DeletionWrite(path: path)
    case .deleteMarked(let paths): MarkedDeletionWrite(paths: paths)
    case .importRows(let rows): ImportedWrite(rows: rows)
    case .pasted(let pasted): PastedWrite(pasted: pasted)
    case .unlisted(let ended): UnlistedWrite(ended: ended)
    case .editOutside(let edit, let text): OutsideWrite(edit: edit, text: text)
    case .toggle: ToggleWrite()
    case .duplicate(let path): CopyWrite(path: path)
    case .reorder(let path): ReorderWrite(path: path)
    case .undo: LogUndoWrite()
    case .merge(let draft, _): MergeWrite(draft: draft)
    case .reversal: ReversalWrite()
    case .earlier(let write): EarlierWrite(write: write)
    }
  }

  /// Whether the write moves a row to another place.
  var isReordering: Bool { if case .reorder = self { true } else { false } }
}

extension WritePurpose: RecordNaming {
  mutating func follow(_ moves: RecordMoves) {
    switch self {
    case .edit(let record, let edit): self = .edit(record: moves.place(record), edit)
    case .form(let form): self = .form(form.following(moves))
    case .delete(let path): self = .delete(moves.place(path))
    case .deleteMarked(let paths): self = .deleteMarked(paths.map(moves.place))
    case .editOutside(let edit, let text):
      self = .editOutside(edit.following(moves), text: text)
    case .duplicate(let path): self = .duplicate(moves.place(path))
    case .reorder(let path): self = .reorder(moves.place(path))
    case .merge(let draft, let theirs): self = .merge(draft.following(moves), theirs: theirs)
    case .send, .importRows, .pasted, .unlisted, .toggle, .undo, .reversal, .earlier: break
    }
  }
}
