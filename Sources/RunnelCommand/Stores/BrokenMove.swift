import RunnelPostgres

/// A move of a namespace that ended early, in words: what became of the namespace, and what to do.
struct BrokenMove {
  /// The namespace.
  var namespace: String
  /// The name of the store where it is; nil if that is not known.
  var store: String?
  /// The name of the store to which it was to be moved; nil if that is not known.
  var target: String?

  /// That the namespace is frozen, and how that ends.
  var frozen: String {
    "\(namespace) is frozen: it is read, and not written. Do the move again (\(again)), and it goes on; or "
      + "give it up (`\(command) --give-up`)."
  }

  /// How a move ends whose namespace is on its way to the target, as the end of a sentence without its point.
  var ways: String {
    let end = target == "main" ? "" : " --store \(target ?? "TARGET")"
    return
      "\(again) completes its move, `runnel store move \(namespace)\(end) --give-up` gives it up"
  }

  /// The command that does the move again.
  var again: String { target.map { "`\(command) --to \($0)`" } ?? "the same command" }

  /// The command that gives the move up.
  var givingUp: String { "`\(command) --give-up`" }

  private var command: String {
    "runnel store move \(namespace)\(store == "main" ? "" : " --store \(store ?? "SOURCE")")"
  }

  /// The error of a move with the state that it leaves, for whoever reads it.
  ///
  /// - Throws: `Interruption.Stopped` if that was the error, after saying the state.
  func told(_ error: any Error, _ source: PostgresStore) throws -> Failure {
    // Another command moves it, and tells what becomes of it.
    if (error as? PostgresError)?.message.contains(StoreMove.busyWords) == true { throw error }
    let words = state(source)
    if let stopped = error as? Interruption.Stopped {
      StandardError.say(words ?? "\(namespace) was not moved.")
      throw stopped
    }
    guard let error = error as? PostgresError else { throw error }
    // A refusal of what is open says enough.
    let end = error.kind == .unsuitable && words?.hasPrefix("\(namespace) is frozen") != true
    return Failure(
      [error.toldWithState, end ? nil : words].compactMap(\.self).joined(separator: " "),
      status: error.isPermanent ? .failure : .retryable)
  }

  /// What is said of the namespace now; nil if there is nothing to say.
  func state(_ source: PostgresStore?) -> String? {
    let name = store ?? "main"
    let unknown =
      "Whether \(namespace) is frozen is not known: `runnel store status --store \(name)` says it."
    do {
      if let source, source.connection.isOpen { return try state(in: source) }
      let opened = try PostgresStore(try StoreOption.place(named: name))
      defer { opened.close() }
      return try state(in: opened)
    } catch {
      return unknown
    }
  }

  private func state(in source: PostgresStore) throws -> String? {
    guard let found = try source.namespace(named: namespace) else { return nil }
    switch found.state {
    case .open: return "\(namespace) was not moved, and is written as before."
    case .frozen:
      // What was begun goes on, whatever was asked for now.
      var broken = self
      broken.target = try source.moveTarget(of: found) ?? target
      return broken.frozen
    case .moved:
      let place = try source.newPlace(of: found)
      var broken = self
      if PostgresPlace.isName(place.store) { broken.target = place.store }
      if try source.isBeingGivenUp(found) {
        return
          "\(namespace) was moved to \(place.words), is not open there, and is being given up: repeat "
          + "\(broken.givingUp)."
      }
      let rest =
        try source.isUnopened(found)
        ? ", but is perhaps not open there yet: \(broken.again) completes the move." : "."
      return
        "\(namespace) was moved to \(place.words)\(rest) If that store is lost for good, "
        + "`\(command) --give-up --force` opens \(namespace) again where it was."
    }
  }
}
