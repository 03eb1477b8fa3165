import OrderedCollections

/// The observers of a stream, and the order of its changes.
///
/// Responsibilities:
/// - It carries out mutations one after the other: if one comes while observers are being told, it
///   waits until all of them have been told.
/// - It tells each observer each change once, in the order of registration.
/// - While it is silent, it tells nothing but the state to new observers. An observer that misses a
///   change is told the next one as a reload; so is one that was added meanwhile, since the load
///   state that it was told is not that of the stream once it is started.
final class ChangeHub<Change> {
  private struct Observation {
    var observer: (Change) -> Void
    var hasMissed = false
  }

  /// True while nothing may be told.
  var isSilent = false

  private let reload: (Change) -> Change
  private var observations: OrderedDictionary<StreamToken, Observation> = [:]
  private var waiting: [() -> Change?] = []
  private var isBusy = false

  /// Makes a hub.
  ///
  /// - Parameter reload: turns a change into one that tells the whole state.
  init(reload: @escaping (Change) -> Change) { self.reload = reload }

  /// Adds an observer and tells it the present state, if there is one to tell.
  func observe(_ observer: @escaping (Change) -> Void, present: Change?) -> StreamToken {
    let token = StreamToken { [weak self] token in self?.cancel(token) }
    observations[token] = Observation(observer: observer, hasMissed: isSilent)
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

  /// Carries out a mutation, now or after those that wait, and tells the change that it returns.
  func perform(_ mutation: @escaping () -> Change?) {
    waiting.append(mutation)
    drain()
  }

  /// Ends the silence, starts the sources, and tells observers that have missed something.
  ///
  /// - Parameters:
  ///   - present: returns the whole state; called when it is told.
  ///   - startSources: starts the sources; changes caused by this are told as they come.
  func start(present: @escaping () -> Change, _ startSources: () -> Void) {
    perform { [self] in
      isSilent = false
      return nil
    }
    startSources()
    perform { [self] in
      tellMissed(present)
      return nil
    }
  }

  /// Tells the whole state to those observers that have missed something.
  private func tellMissed(_ present: () -> Change) {
    for token in Array(observations.keys) {
      guard !isSilent, observations[token]?.hasMissed == true else { continue }
      observations[token]?.hasMissed = false
      observations[token]?.observer(present())
    }
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
