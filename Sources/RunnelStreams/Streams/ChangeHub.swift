import OrderedCollections

/// The observers of a stream, and the order of its changes.
///
/// Responsibilities:
/// - It carries out mutations one after the other: if one comes while observers are being told, it
///   waits until all of them have been told.
/// - It tells each observer each change once, in the order of registration.
/// - While it is stopped, it tells nothing but the state to new observers: while it is silent, and
///   while all sources of the stream are stopped, also from the midst of a change on. An observer that
///   misses a change is told the next one as a reload; so is one that was added meanwhile, since the
///   load state that it was told is not that of the stream once it is started. If there is no next
///   change, they are told the state when the stream, or the first of its sources, is started again.
final class ChangeHub<Change> {
  private struct Observation {
    var observer: (Change) -> Void
    var hasMissed = false
  }

  /// True from the stop of the stream itself until its start.
  var isSilent = false
  /// True while nothing may be told.
  var isStopped: Bool {
    isSilent || (!sources.isEmpty && sources.allSatisfy { $0.isStopped })
  }

  private let reload: (Change) -> Change
  private var sources: [any SectionedStream] = []
  private var present: () -> Change? = { nil }
  private var onRestart: () -> Void = {}
  /// The sources, by their index, that will say when they are started again.
  private var awaited: Set<Int> = []
  /// Those who wait for the start of the stream.
  private var restarts: [() -> Void] = []
  private var observations: OrderedDictionary<StreamToken, Observation> = [:]
  private var waiting: [() -> Change?] = []
  private var isBusy = false

  /// Makes a hub.
  ///
  /// - Parameter reload: turns a change into one that tells the whole state.
  init(reload: @escaping (Change) -> Change) { self.reload = reload }

  /// Tells nothing from now on while all of these sources are stopped.
  ///
  /// - Parameters:
  ///   - sources: the sources of the stream.
  ///   - present: returns the whole state of the stream.
  ///   - onRestart: called when a source was started by itself, and something was missed meanwhile.
  func follow(
    _ sources: [any SectionedStream], present: @escaping () -> Change?,
    onRestart: @escaping () -> Void = {}
  ) {
    (self.sources, self.present, self.onRestart) = (sources, present, onRestart)
  }

  /// Adds an observer and tells it the present state, if there is one to tell.
  func observe(_ observer: @escaping (Change) -> Void, present: Change?) -> StreamToken {
    let token = StreamToken { [weak self] token in self?.cancel(token) }
    observations[token] = Observation(observer: observer, hasMissed: isStopped)
    if isStopped { awaitSources() }
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
  /// - Parameter startSources: starts the sources; changes caused by this are told as they come.
  func start(_ startSources: () -> Void) {
    perform { [self] in
      isSilent = false
      return nil
    }
    startSources()
    perform { [self] in
      tellMissed()
      return nil
    }
  }

  /// Tells the whole state to those observers that have missed something.
  private func tellMissed() {
    for token in Array(observations.keys) where observations[token]?.hasMissed == true {
      if isStopped { return awaitSources() }
      guard let present = self.present() else { return }
      observations[token]?.hasMissed = false
      observations[token]?.observer(present)
    }
  }

  /// Has the sources say when the first of them is started again, since it may have nothing to tell.
  func awaitSources() {
    // What starts the stream itself tells what was missed.
    if isSilent { return }
    for (index, source) in sources.enumerated() where awaited.insert(index).inserted {
      (source as? any RestartedStream)?.whenStarted { [weak self] in self?.sourceWasStarted(index) }
    }
  }

  private func sourceWasStarted(_ index: Int) {
    awaited.remove(index)
    perform { [self] in
      tellMissed()
      return nil
    }
    onRestart()
  }

  /// Calls `body` once: now, or when the stream is not stopped any more.
  func whenStarted(_ body: @escaping () -> Void) {
    if isSilent { return restarts.append(body) }
    if !isStopped { return body() }
    for source in sources { (source as? any RestartedStream)?.whenStarted(body) }
  }

  private func drain() {
    if isBusy { return }
    isBusy = true
    while !waiting.isEmpty {
      // In the usual case there is one, and removing it costs nothing.
      let mutation = waiting.removeFirst()
      if let change = mutation() { deliver(change) }
      if !isSilent, !restarts.isEmpty {
        let bodies = restarts
        restarts = []
        for body in bodies { whenStarted(body) }
      }
    }
    isBusy = false
  }

  private func deliver(_ change: Change) {
    for token in Array(observations.keys) {
      guard let observation = observations[token] else { continue }
      // An observer may have stopped the stream, or its sources.
      let isStopped = isStopped
      observations[token]?.hasMissed = isStopped
      if isStopped {
        awaitSources()
        continue
      }
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

/// A stream that says when it is not stopped any more, although it may have nothing to tell.
protocol RestartedStream: AnyObject {
  /// Calls `body` once: now, or when the stream is not stopped any more.
  func whenStarted(_ body: @escaping () -> Void)
}
