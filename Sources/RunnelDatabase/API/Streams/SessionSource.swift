import RunnelStreams
import RunnelTree
import Synchronization

/// The tree for the streams of a session.
final class SessionSource: TreeSource, TreeTarget, NamedTree {
  private let database: Database
  private let inbox: SessionInbox<StreamSession.Message>
  private var observations: [ListenerID: Observation] = [:]
  private var lastWrite = 0
  /// The last name of a listener that was refused; those of the database are negative.
  private var lastRefused = 0
  /// The number of the handler that ends the inbox when the database is closed.
  private let closeHandler: Int
  var completions: [Int: (WriteOutcome) -> Void] = [:]
  /// Why streams over this tree and others have failed.
  private(set) var failures: [ObjectIdentifier: StreamFailure] = [:]

  init(_ database: Database, _ inbox: SessionInbox<StreamSession.Message>) {
    self.database = database
    self.inbox = inbox
    closeHandler = database.dispatcher.whenClosed { inbox.fail($0) }
  }

  /// Sends an answer from any thread.
  private var send: @Sendable (StreamSession.Message) -> Void { { [inbox] in inbox.post($0) } }

  func listen(_ request: ListenRequest) -> ListenerID {
    let (inbox, send) = (inbox, send)
    let observation = database.observe(request) { listener, events, batch in
      inbox.post(.events(listener, events), of: batch)
    } onFailure: { listener, error in
      send(.failed(listener, error))
    }
    observations[observation.id] = observation
    return observation.id
  }

  func unlisten(_ listener: ListenerID) {
    if let observation = observations.removeValue(forKey: listener) {
      database.end(observation)
    }
  }

  func extend(_ listener: ListenerID, by count: Int) {
    database.enqueue(.extend(listener, count: count))
  }

  func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void) {
    let (number, send) = (add(completion), send)
    database.submit(write) { error in send(.written(number, error)) }
  }

  private func add(_ completion: @escaping (WriteOutcome) -> Void) -> Int {
    lastWrite += 1
    completions[lastWrite] = completion
    return lastWrite
  }

  func makeKey() -> Key { database.autoIDs.withLock { $0.next() } }

  /// Ends all observations; returns the listeners, in the order in which they began, and the
  /// completions of the writes that were not answered, in order.
  func takeAll() -> (listeners: [ListenerID], completions: [(WriteOutcome) -> Void]) {
    let all = (
      observations.keys.sorted(by: >),
      completions.sorted { $0.key < $1.key }.map(\.value)
    )
    for observation in observations.values { database.end(observation) }
    (observations, completions) = ([:], [:])
    return all
  }

  func end() {
    for observation in observations.values { database.end(observation) }
    observations = [:]
    database.dispatcher.removeCloseHandler(closeHandler)
    inbox.finish()
  }

  // MARK: Other databases

  /// The name: the path of the file.
  var treeName: String { database.file }

  func note(_ failure: StreamFailure?, of stream: ObjectIdentifier) {
    failures[stream] = failure
    // Whoever waits for the stream waits no longer.
    if failure != nil { inbox.postIfRoom(.due) }
  }

  /// Refuses a listener: its failure comes like an answer.
  func refuseListener(_ error: DatabaseError) -> ListenerID {
    lastRefused += 1
    let listener = ListenerID(lastRefused)
    inbox.post(.failed(listener, error))
    return listener
  }

  /// Refuses a write: the completion is called like that of others.
  func refuseWrite(_ error: DatabaseError, completion: @escaping (WriteOutcome) -> Void) {
    inbox.post(.written(add(completion), error))
  }
}
