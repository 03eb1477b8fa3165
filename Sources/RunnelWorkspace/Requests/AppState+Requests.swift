import RunnelStreams
import RunnelTerminal
package import RunnelTree

// Requests: the only way to ask the database for something, and the places where answers go.

extension AppState {
  /// Sends a request to the database, and notes its purpose.
  ///
  /// - Returns: The id that the answer will carry.
  @discardableResult
  mutating func ask(_ request: Request, for purpose: Pending) -> AppRequestID {
    let id = requests.add(purpose)
    effects.append(.request(id, request))
    return id
  }

  /// Requests a write, and notes its purpose; if the profile wants a question before it, the write is
  /// held until the user agrees.
  ///
  /// - Precondition: Writing is on; see `refusesWriting`.
  /// - Returns: The id that the answer will carry; nil if the write is held.
  @discardableResult
  package mutating func submit(_ purpose: WritePurpose, _ request: WriteRequest) -> AppRequestID? {
    guard HeldWrite.isAsked(self, purpose) else { return HeldWrite.start(&self, purpose, request) }
    if writes.held.last?.purpose == purpose {
      writes.held[writes.held.count - 1].requests.append(request)
    } else {
      writes.held.append(HeldWrite(purpose: purpose, requests: [request]))
    }
    return nil
  }

  /// Requests the value at a place, and notes its purpose.
  package mutating func read(_ path: Path, for purpose: ReadPurpose) {
    ask(.value(path), for: .read(path, purpose))
  }
}

extension PendingRequests {
  /// Takes the answer to a request; the answer to a canceled request is dropped.
  static func take(_ state: inout AppState, _ answer: Answer, to id: AppRequestID) {
    guard let pending = state.requests.remove(id) else { return }
    if case .refused(let refusal) = answer { return take(&state, refusal, of: pending, id) }
    switch (pending, answer) {
    case (.write(let purpose), .written(let key, let entry)):
      Writing.finish(&state, id, purpose, key: key, entry: entry)
    case (.write, .undonePartly(let entry, let partial)):
      UndoHistory.endReversal(&state, of: id, entry: entry, partial)
    case (.write(let purpose), .performed(let performed)):
      Writing.finish(&state, id, purpose, performed)
    case (.dropPending, .written): break
    case (.dropRefused(let item), .written): QueueScreen.finishDrop(&state, item)
    case (.read(let path, let purpose), .value(let node)):
      Copying.finish(&state, reading: path, for: purpose, node.exportJSON)
    case (.numberOrKey(let path, let number, let view), .value(let node)):
      if Jump.asksOrigin(&state, node, at: path, number: number, view: view) { break }
      Jump.take(&state, node, at: path, number: number, view: view)
    case (.numberOrKeyThere(let path, let number, let view), .value(let node)):
      Jump.take(&state, node, at: path, number: number, view: view)
    case (.choices(let path), .records(let rows)):
      ResourceCommands.show(&state, choices: rows, in: path)
    case (.history(let reading), .history(let page)):
      HistoryScreen.take(&state, history: id, reading, page)
    case (.newest(let view), .history(let page)):
      ListScreen.take(&state, newest: page, inView: view)
    case (.comparedHistory(let path), .history(let page)):
      CompareScreen.take(&state, page.entries, of: path)
    case (.detailHistory(let path), .history(let page)):
      DetailHistory.take(&state, detailHistory: page, of: path)
    case (.comparedWrite, .history(let page)): CompareScreen.take(&state, compared: page)
    case (.importWithoutEntry(let words, let same), .history(let page)):
      Importing.tellNoEntry(&state, words, same: same, isHistoryOn: page.limit > 0)
    case (.orders(let view), .orders(let orders)): Sorting.show(&state, orders, ofView: view)
    case (.preview(let path), .excerpt(let excerpt)):
      TreePreview.show(&state, excerpt, asPreviewOf: path)
    case (.count(let path, let counting), .count(let number, let hasMore)):
      Related.take(&state, .known(number, hasMore: hasMore), of: path, counting)
    case (.clients, .clients(let page)): ClientsScreen.take(&state, page, id)
    case (.disconnect, .disconnected(let wasThere)):
      ClientsScreen.finishDisconnect(&state, wasThere: wasThere)
    case (.account(let deed), .account(let user, let isLater)):
      AccountsScreen.finish(&state, id, deed, user: user, isLater: isLater)
    case (.device(let request), .devices(let outcome)):
      DevicesScreen.finish(&state, request, outcome)
    case (.method(let call), .result(let json)): MethodCalls.finish(&state, call, json)
    case (.why(let write), .result(let json)): WhyScreen.take(&state, json, of: write)
    default:
      // The names of the cases only: the log has no texts of the user.
      let (asked, told) = (caseName(of: pending), caseName(of: answer))
      state.effects.append(.mismatch("The answer \(told) does not fit the request \(asked) \(id)."))
    }
  }

  /// The name of the case of an enumeration's value.
  private static func caseName(of value: Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
  }

  /// Takes the refusal or failure of a request.
  private static func take(
    _ state: inout AppState, _ refusal: Refusal, of pending: Pending, _ id: AppRequestID
  ) {
    switch pending {
    case .write(let purpose): Writing.fail(&state, id, purpose, refusal)
    case .dropRefused(let item): QueueScreen.finishDrop(&state, item, refusal)
    case .history(let reading): HistoryScreen.fail(&state, history: id, reading, refusal)
    case .detailHistory(let path): DetailHistory.take(&state, detailHistory: nil, of: path)
    case .newest(let view): ListScreen.take(&state, newest: nil, inView: view)
    case .preview(let path): TreePreview.show(&state, nil, asPreviewOf: path)
    case .count(let path, let counting):
      Related.take(&state, .failed(refusal.message), of: path, counting)
    case .choices:
      ResourceCommands.giveUpChoices(&state)
      state.say(.error, refusal.message)
    case .clients: ClientsScreen.fail(&state, refusal, id)
    case .device(let request): DevicesScreen.fail(&state, request, refusal)
    case .account: AccountsScreen.fail(&state, id, refusal)
    case .why(let write): WhyScreen.fail(&state, refusal, of: write)
    case .method(let call): MethodCalls.fail(&state, call, refusal)
    case .read, .numberOrKey, .numberOrKeyThere, .dropPending, .comparedWrite, .disconnect:
      state.say(.error, refusal.message)
    case .importWithoutEntry(let words, _): state.say(.info, words)
    // Without an answer the menu says nothing of indexes, and the comparison nothing of who wrote.
    case .orders, .comparedHistory: break
    }
  }
}
