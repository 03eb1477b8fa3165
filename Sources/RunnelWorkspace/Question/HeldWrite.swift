import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A write that replaces data of a profile with `confirm`: it is held until the user agrees.
struct HeldWrite: Hashable, Sendable {
  /// The most writes that a question names.
  private static let namedMax = 5

  /// Why the user is asked.
  static let reason = StyledLine(
    "The profile says `confirm`: it asks before data are replaced.", .muted)

  let purpose: WritePurpose
  /// The requests; several if a form changes several records.
  var requests: [WriteRequest]

  /// Returns whether the user is asked before a write: whether the profile wants that, and data are
  /// replaced.
  ///
  /// New records are written without a question, as `push` does. Deletions, imports, and steps of undo
  /// have questions of their own.
  static func isAsked(_ state: AppState, _ purpose: WritePurpose) -> Bool {
    guard state.database.profile?.confirms == true else { return false }
    return purpose.kind.replacesData
  }

  /// Opens the question about the first write that is held, unless one is open.
  static func ask(_ state: inout AppState) {
    guard !state.writes.held.isEmpty else { return }
    if case .question(let question)? = state.layers.last, case .write = question.purpose { return }
    let held = state.writes.held.removeFirst()
    let name = state.database.profile?.name ?? ""
    let question = Question(
      .write(held), title: "Write to \(name)", message: held.lines,
      explanation: [reason], openedAt: state.input.eventTime)
    let no = held.purpose == .undo ? "leave it" : "go on typing"
    Question.open(&state, question, yes: "write", no: no)
  }

  /// The writes in words, for the question.
  var lines: [StyledLine] {
    var lines = requests.prefix(HeldWrite.namedMax).map { StyledLine($0.deed) }
    if requests.count > HeldWrite.namedMax {
      lines.append(StyledLine("and \(requests.count - HeldWrite.namedMax) more", .muted))
    }
    return lines
  }

  /// Requests the writes that the user agreed to.
  static func write(_ state: inout AppState, _ held: HeldWrite) {
    if state.refusesWriting() { return giveBack(&state, held) }
    for request in held.requests { start(&state, held.purpose, request) }
  }

  /// Requests a write without a question, and notes its purpose.
  ///
  /// - Precondition: Writing is on; see `refusesWriting`.
  /// - Returns: The id that the answer will carry.
  @discardableResult
  static func start(
    _ state: inout AppState, _ purpose: WritePurpose, _ request: WriteRequest
  ) -> AppRequestID {
    precondition(
      !state.database.isReadOnly, "Whoever offers to write asks before if writing is on.")
    let moves = state.database.moves
    let moved = moves.isEmpty ? purpose : purpose.following(moves)
    let whole = QueueScreen.withRest(state, request, for: moved)
    let (purpose, followed) = (moved, moves.isEmpty ? whole : whole.following(moves))
    let asked = state.writes.queue.taking(followed, for: purpose)
    let request = followed.alone
    let id = state.ask(.write(asked), for: .write(purpose))
    if purpose != .reversal {
      state.writes.undoing.begin(
        id, request.deed, at: request.restoredPlaces, removing: request.removedPlaces)
      state.writes.queue.begin(id, request, at: state.now, inputCount: state.input.count)
    }
    return id
  }

  /// Gives back what was typed for a write that the user does not want.
  static func giveBack(_ state: inout AppState, _ held: HeldWrite) {
    let refusal = Refusal("not written")
    state.say(.info, refusal.message)
    // The write that was compared is still among the refused ones.
    held.purpose.kind.giveBack(&state, refusal)
  }
}
