import RunnelPostgres

/// A move of a namespace that ended early, in words: what became of the namespace, and what to do.
struct BrokenMove {
  /// The namespace.
  var namespace: String
  /// The name of the store where it is.
  var store: String
  /// The name of the store to which it was to be moved; nil if that is not known.
  var target: String?

  /// That the namespace is frozen, and how that ends.
  var frozen: String {
    let again = target.map { "`\(command) --to \($0)`" } ?? "the same command"
    return
      "\(namespace) is frozen: it is read, and not written. Do the move again (\(again)), and it goes on; or "
      + "give it up (`\(command) --give-up`)."
  }

  private var command: String {
    "runnel store move \(namespace)\(store == "main" ? "" : " --store \(store)")"
  }

  /// The error of a move with the state that it leaves, for whoever reads it.
  ///
  /// - Throws: `Interruption.Stopped` if that was the error, after saying the state.
  func told(_ error: any Error, _ source: PostgresStore) throws -> Failure {
    let words = state(source)
    if let stopped = error as? Interruption.Stopped {
      StandardError.say(words ?? "\(namespace) was not moved.")
      throw stopped
    }
    guard let error = error as? PostgresError else { throw error }
    // A refusal of what is open says enough.
    let end = error.kind == .unsuitable && words?.hasPrefix("\(namespace) is frozen") != true
    return Failure(
      [error.told, end ? nil : words].compactMap(\.self).joined(separator: " "),
      status: error.isPermanent ? .failure : .retryable)
  }

  /// What is said of the namespace now; nil if there is nothing to say.
  func state(_ source: PostgresStore?) -> String? {
    let unknown =
      "Whether \(namespace) is frozen is not known: `runnel store status --store \(store)` says it."
    do {
      if let source, source.connection.isOpen { return try state(in: source) }
      let opened = try PostgresStore(try StoreOption.place(named: store))
      defer { opened.close() }
      return try state(in: opened)
    } catch {
      return unknown
    }
  }

  private func state(in source: PostgresStore) throws -> String? {
    switch try source.namespace(named: namespace)?.state {
    case .open: "\(namespace) was not moved, and is written as before."
    case .frozen: frozen
    case .moved:
      "\(namespace) was moved, but is perhaps not open in the other store yet: do the move again."
    case nil: nil
    }
  }
}
