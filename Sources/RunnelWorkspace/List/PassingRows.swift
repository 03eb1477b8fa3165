/// Rows of a list that are not stored, or not under the id that they will have.
struct PassingRows: Hashable, Sendable {
  /// The ids of the rows that are being composed or sent, here or by others.
  var rows: Set<String> = []
  /// The new records whose rows come with the server's answer.
  var awaited: [AwaitedRow] = []
  /// The rows whose records have got another id, which comes with a later change.
  var moves = RowMoves()
  /// The others who are typing in the view.
  var typing: [TypingPerson] = []
}
