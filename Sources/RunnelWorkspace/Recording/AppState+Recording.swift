package import RunnelStore

extension AppState {
  /// The middleware that records actions: the last one, so that it sees what the reducer sees.
  package static func recording(
    now: @escaping () -> Int64, write: @escaping (LoggedAction) -> Void
  ) -> Middleware<AppState> {
    { _, getState in
      { next in
        var count = 0
        return { action in
          count += 1
          var entry = LoggedAction(number: count, milliseconds: now(), action: action)
          if case .input? = action as? AppAction, getState()?.takesSecret == true {
            entry.content = .withheld(type: String(describing: AppAction.self))
          }
          write(entry)
          next(action)
        }
      }
    }
  }
}
