/// The load state of a stream: whether it has its first rows, and all of them.
public enum LoadState: Hashable, Sendable {
  /// The stream was not started, or was stopped.
  case idle
  /// The stream waits for its first rows. After a restart it still shows the earlier rows.
  case loading
  /// The stream has the rows that a replica knows, even if there are none. The origin has not
  /// answered: there is no connection, or the answer is on its way.
  case cached
  /// The stream has its rows, even if there are none. On a replica, the origin has answered, now or
  /// in an earlier session whose answer was kept.
  case loaded
  /// Loading failed, or the listener was ended; starting the stream again is a new attempt.
  case failed(StreamFailure)

  /// True if the stream shows rows, some or all: `cached` or `loaded`.
  public var showsRows: Bool { self == .cached || self == .loaded }

  /// The state of a whole: the first failure of a part; otherwise idle if a part is idle; otherwise
  /// loading if a part is loading, or cached if a part is cached.
  static func combined(_ states: some Sequence<LoadState>) -> LoadState {
    var result = LoadState.loaded
    for state in states {
      switch (state, result) {
      case (.failed, _): return state
      case (.idle, _): result = .idle
      case (.loading, .loaded), (.loading, .cached): result = .loading
      case (.cached, .loaded): result = .cached
      case (.loading, _), (.cached, _), (.loaded, _): break
      }
    }
    return result
  }
}
