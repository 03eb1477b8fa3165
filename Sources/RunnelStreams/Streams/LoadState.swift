/// The load state of a stream: whether it has its first rows.
public enum LoadState: Hashable, Sendable {
  /// The stream was not started, or was stopped.
  case idle
  /// The stream waits for its first rows. After a restart it still shows the earlier rows.
  case loading
  /// The stream has its rows, even if there are none.
  case loaded
  /// Loading failed, or the listener was ended; starting the stream again is a new attempt.
  case failed(StreamFailure)

  /// The state of a whole: the first failure of a part; otherwise idle if a part is idle; otherwise
  /// loading if a part is loading.
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
