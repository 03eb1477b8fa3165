import OrderedCollections

/// Who observes a stream, and in which order things happen to it.
///
/// Responsibilities:
/// - It carries out mutations one after the other: one that comes while observers are being told
///   waits until all of them were.
/// - It tells each observer each change once, in the order of observation.
/// - Silenced, it tells nobody anything. Who misses a change by that is told the next one as a reload.
final class ChangeHub<Change> {
  private struct Observation {
    var observer: (Change) -> Void
    var hasMissed = false
  }

  /// True while nobody may be told anything.
  var isSilent = false

  private let reload: (Change) -> Change
  private var observations: OrderedDictionary<StreamToken, Observation> = [:]
  private var waiting: [() -> Change?] = []
  private var isBusy = false

  /// True if somebody was not told of a change and of none since.
  var hasMissed: Bool { observations.values.contains(where: \.hasMissed) }

  /// Makes a hub.
  ///
  /// - Parameter reload: makes of a change one that tells the whole state.
  init(reload: @escaping (Change) -> Change) { self.reload = reload }

  /// Adds an observer and tells it the present state, if there is one to tell.
  func observe(_ observer: @escaping (Change) -> Void, present: Change?) -> StreamToken {
    let token = StreamToken()
    observations[token] = Observation(observer: observer)
    guard let present else { return token }
    let wasBusy = isBusy
    isBusy = true
    observer(present)
    isBusy = wasBusy
    drain()
    return token
  }

  /// Removes an observer.
  func cancel(_ token: StreamToken) { observations[token] = nil }

  /// Carries out a mutation, now or after those that wait, and tells the change it returns.
  func perform(_ mutation: @escaping () -> Change?) {
    waiting.append(mutation)
    drain()
  }

  /// Ends the silence, starts what is followed, and tells those who missed something.
  ///
  /// - Parameters:
  ///   - present: the whole state, asked for when it is told.
  ///   - startSources: starts what is followed; the changes that this makes are told as they come.
  func start(present: @escaping () -> Change, _ startSources: () -> Void) {
    perform { [self] in
      isSilent = false
      return nil
    }
    startSources()
    perform { [self] in hasMissed && !isSilent ? present() : nil }
  }

  private func drain() {
    if isBusy { return }
    isBusy = true
    while !waiting.isEmpty {
      // In the usual case there is one, and removing it costs nothing.
      let mutation = waiting.removeFirst()
      if let change = mutation() { deliver(change) }
    }
    isBusy = false
  }

  private func deliver(_ change: Change) {
    for token in Array(observations.keys) {
      guard let observation = observations[token] else { continue }
      observations[token]?.hasMissed = isSilent
      if isSilent { continue }
      observation.observer(observation.hasMissed ? reload(change) : change)
    }
  }
}

extension ChangeHub {
  /// Makes a hub for the changes of a stream.
  convenience init<Item>() where Change == StreamChange<Item> {
    self.init { change in
      var change = change
      change.changes = .reload
      return change
    }
  }
}
