import RunnelStreams
import RunnelTerminal
import RunnelTree

// The one road of requests: what is asked of the database, and where its answers go.

extension AppState {
  /// Asks the database for something, and remembers what for.
  ///
  /// - Returns: the id that the answer will carry.
  @discardableResult
  mutating func ask(_ request: Request, for purpose: Pending) -> RequestID {
    let id = requests.add(purpose)
    effects.append(.request(id, request))
    return id
  }

  /// Asks for a write, and remembers what for.
  ///
  /// - Precondition: writing is on; see `refusesWriting`.
  /// - Returns: the id that the answer will carry.
  @discardableResult
  mutating func submit(_ purpose: WritePurpose, _ request: WriteRequest) -> RequestID {
    precondition(!isReadOnly, "Whoever offers to write asks before if writing is on.")
    let id = ask(.write(request), for: .write(purpose))
    if purpose != .reversal {
      undoing.begin(id, request.deed, at: request.place)
      queue.begin(id, request, at: now, inputCount: inputCount)
    }
    return id
  }

  /// Asks for what stands at a place, and remembers what for.
  mutating func read(_ path: Path, for purpose: ReadPurpose) {
    ask(.value(path), for: .read(path, purpose))
  }

  /// Takes the answer to a request; one that was given up is answered for nobody.
  mutating func take(_ answer: Answer, to id: RequestID) {
    guard let pending = requests.remove(id) else { return }
    if case .refused(let refusal) = answer { return take(refusal, of: pending, id) }
    switch (pending, answer) {
    case (.write(let purpose), .written(let key, let entry)):
      finish(id, purpose, key: key, entry: entry)
    case (.write(let purpose), .performed(let performed)): finish(id, purpose, performed)
    case (.read(let path, let purpose), .value(let node)):
      finish(reading: path, for: purpose, node.exportJSON)
    case (.choices(let path), .records(let rows)): show(choices: rows, in: path)
    case (.history(let reading), .history(let page)): take(history: id, reading, page)
    case (.detailHistory(let path), .history(let page)): take(detailHistory: page, of: path)
    case (.comparedWrite, .history(let page)): take(compared: page)
    case (.orders(let view), .orders(let orders)): show(orders, ofView: view)
    case (.preview(let path), .excerpt(let excerpt)): show(excerpt, asPreviewOf: path)
    case (.saveCopy, .copied(let file, let bytes)): noteCopy(file, bytes: bytes)
    default: break
    }
  }

  /// A request was refused, or failed.
  private mutating func take(_ refusal: Refusal, of pending: Pending, _ id: RequestID) {
    switch pending {
    case .write(let purpose): fail(id, purpose, refusal)
    case .history(let reading): fail(history: id, reading, refusal)
    case .detailHistory(let path): take(detailHistory: nil, of: path)
    case .preview(let path): show(nil, asPreviewOf: path)
    case .choices:
      giveUpChoices()
      say(.error, refusal.message)
    case .read, .dropPending, .comparedWrite, .saveCopy: say(.error, refusal.message)
    // Without an answer the menu says nothing of indexes.
    case .orders: break
    }
  }
}
