import RunnelDatabase
import RunnelTree
import RunnelWorkspace

// MARK: What the database says

extension AppRuntime {
  /// Takes messages of the database, in order.
  ///
  /// Returns whether the user waits to see them: what was typed is on disk or refused, or the server has
  /// answered the last write that waited for it. Answers to one of many writes are not counted, nor are
  /// those of other processes, of which there may be thousands a second.
  @discardableResult
  func receive(_ messages: [DatabaseMessage]) -> Bool {
    let typed = Drafts.writingCount(state)
    for message in messages { receive(message) }
    queries.listed?.takeAnswers()
    if Drafts.writingCount(state) < typed { return true }
    return state.writes.queue.pending.isEmpty && messages.contains(where: \.endsOwnWrite)
  }

  private func receive(_ message: DatabaseMessage) {
    if let (number, answer) = answer(in: message) { return receive(answer, number) }
    switch message {
    case .deliveries(let deliveries): queries.deliver(deliveries)
    case .failed(let listener, let error): queries.fail(listener, error)
    case .rejected(_, let write, let error):
      // A write that the user dropped needs no message.
      if error.code != .writeCanceled { send(.rejected(write: write, error.description)) }
    case .pendingWrites(let writes):
      // A row of the line goes when the row of its record is there.
      queries.take(pending: writes)
      send(.pendingWrites(writes.filter { !ownPlaces.cover($0) }))
    case .refusedWrites(let kept):
      keptRefusals = Set(kept.map(\.write.id))
      send(.refusedWrites(kept))
    case .stale(let error): send(.trouble(error.told))
    case .fileGone(let error): send(.fileGone(error.message, FileGone.Part(error.lost)))
    case .fileBack: send(.fileBack)
    case .copying(let number, let stage): files.take(stage, number)
    // The indexes of views are declared when the file is opened; if that fails, there is nothing
    // more to do.
    case .advice, .acknowledged, .origin: break
    case .written, .undonePartly, .performed, .resourceRefused, .found, .excerpt, .rows, .history,
      .orders, .refused:
      break
    }
  }

  private func receive(_ answer: Answer, _ number: Int) {
    switch DatabaseAsker(number: number) {
    case .state(let id):
      if !files.take(answer, to: id) { send(.answered(id, answer)) }
    case .tree(let id): queries.listed?.take(answer, to: id)
    case .nobody: break
    }
  }

  /// Returns the answer in a message with the number of its request, or nil if the message is no
  /// answer.
  private func answer(in message: DatabaseMessage) -> (Int, Answer)? {
    switch message {
    case .written(let number, let key, let entry): (number, .written(key: key, entry: entry))
    case .undonePartly(let number, let entry, let partial):
      (number, .undonePartly(entry: entry, partial))
    case .performed(let number, let plan):
      (number, .performed(Performed(plan, at: state.now, by: state.database.me)))
    case .found(let number, let node): (number, .value(node))
    case .excerpt(let number, let excerpt): (number, .excerpt(excerpt))
    case .rows(let number, let rows): (number, .records(rows))
    case .history(let number, let page): (number, .history(page))
    case .orders(let number, let orders): (number, .orders(orders.map(\.description)))
    case .refused(let number, let error): (number, .refused(Refusal(error)))
    case .resourceRefused(let number, let error): (number, .refused(Refusal(error)))
    case .deliveries, .acknowledged, .rejected, .pendingWrites, .refusedWrites, .origin, .failed,
      .advice, .stale, .copying, .fileGone, .fileBack:
      nil
    }
  }
}

extension DatabaseMessage {
  /// Whether the origin of a replica has answered a write of this program.
  fileprivate var endsOwnWrite: Bool {
    switch self {
    case .acknowledged, .rejected(.some, _, _): true
    default: false
    }
  }
}

extension FileGone.Part {
  /// What was lost, as the database tells it; a file that is at its place again is lost as such.
  fileprivate init(_ part: LostPart?) {
    self =
      switch part {
      case .companion: .companion
      case .content: .content
      case .file, nil: .file
      }
  }
}
