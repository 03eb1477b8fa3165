import RunnelPostgres

/// A sentence on standard error for a command that waits for its store for longer than a few seconds: what it
/// waits for.
///
/// ```
///   waiting --end--> ended
///      |
///      +--4 s--> told --end--> ended
/// ```
struct WaitNotice {
  private static let patience = Duration.seconds(4)

  private let task: Task<Void, Never>

  /// Begins to wait; `store` is the name of the store.
  init(_ store: String) {
    task = Task.detached {
      guard (try? await Task.sleep(for: WaitNotice.patience)) != nil else { return }
      let words = WaitNotice.words(for: store)
      if !Task.isCancelled { StandardError.say(words) }
    }
  }

  /// Says nothing from now on.
  func end() { task.cancel() }

  private static func words(for store: String) -> String {
    // Another connection is asked, since the first one waits.
    let standbys = try? {
      let opened = try PostgresStore(try StoreOption.place(named: store))
      defer { opened.close() }
      return try opened.standbys()
    }()
    guard let standbys, standbys.isShort else {
      return "Waiting for the primary of the store to confirm what is written."
    }
    return
      "Waiting for a standby: too few are attached for synchronous_standby_names = "
      + "'\(standbys.expected)', so the primary confirms nothing that is written."
  }
}
