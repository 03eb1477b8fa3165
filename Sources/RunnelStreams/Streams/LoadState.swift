/// How far a stream has its first rows.
public enum LoadState: Hashable, Sendable {
  /// It was not started, or was stopped.
  case idle
  /// It waits for its first rows. After a restart it shows those of before meanwhile.
  case loading
  /// It has them, even if there are none.
  case loaded
  /// It could not get them, or lost what it listened to; starting it again is a new attempt. The
  /// text is for a person.
  case failed(String)

  /// The state of a whole from those of its parts: the first failure; else idle if a part is, else
  /// loading if a part is.
  static func combined(_ states: some Sequence<LoadState>) -> LoadState {
    var result = LoadState.loaded
    for state in states {
      switch (state, result) {
      case (.failed, _): return state
      case (.idle, _): result = .idle
      case (.loading, .loaded): result = .loading
      case (.loading, _), (.loaded, _): break
      }
    }
    return result
  }
}
