import RunnelBase
import RunnelTree

// The text of the user's editor that was not written: a session keeps it, and the next workspace lists it among
// the refused writes. As a draft it could not be offered where others removed the record.

extension Draft {
  /// The most bytes of the texts of the user's editor in a session, with what they began with.
  ///
  /// JSON in a JSON string takes up to twice its bytes: a session file holds that, and other drafts.
  static let outsideBytesMax = 2 << 20
  private static let label = "text"

  /// Makes the draft of an edit and its text; nil if it is too large for a session.
  init?(_ edit: OutsideEdit, text: String) {
    let base = edit.original.jsonText()
    self.init(
      Subject(.outside, edit.path), [Text(Draft.label, text, .json, base: base)])
    if byteCount > Draft.outsideBytesMax { return nil }
  }

  /// The edit in the user's editor, and its text; nil for a draft of another kind.
  var outside: (edit: OutsideEdit, text: String)? {
    guard subject.kind == .outside, let typed = texts.first,
      let original = try? JSONValue(parsing: typed.base)
    else { return nil }
    return (OutsideEdit(path: subject.path, original: original), typed.text)
  }

  /// The newest of the texts, the oldest first, as far as a session keeps them.
  static func fitting(_ texts: [Draft]) -> [Draft] {
    var rest = outsideBytesMax
    var kept: [Draft] = []
    for draft in texts.reversed() where !kept.contains(draft) {
      if kept.count == Drafts.countMax || draft.byteCount > rest { break }
      rest -= draft.byteCount
      kept.append(draft)
    }
    return kept.reversed()
  }
}

extension WriteQueue.Refused {
  /// Returns the typed text as a draft; nil if there is none, or if the replica's file keeps it.
  func draft(_ state: AppState) -> Draft? {
    let draft = purpose.kind.draft(state)
    guard let write, draft?.subject.kind == .outside else { return draft }
    return EarlierEdit(ofRefused: write, state)?.purpose(state, as: id) == purpose ? nil : draft
  }
}

extension OutsideEdit {
  /// Lists the texts that were not written before the program ended among the refused writes.
  static func restore(_ state: inout AppState, _ drafts: [Draft]) {
    for (edit, text) in drafts.compactMap(\.outside) {
      let id = state.requests.newID()
      state.writes.queue.keep(
        WriteQueue.Refused(
          id: id, request: try? guardedRequest(state, for: text, edit),
          refusal: Refusal("it was not written before the program ended"), at: state.now, tries: 1,
          purpose: .editOutside(edit, text: text)))
    }
  }
}
