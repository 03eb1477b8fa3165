/// Keeps something synced as long as it lives, or until it is ended.
///
/// A view keeps the token: when the view goes, so does the syncing. Several tokens may be there at
/// once; the last one to end stops it. It is to be let go on the thread of the streams.
public final class SyncToken {
  private let life: SyncLife
  private var isEnded = false

  fileprivate init(_ life: SyncLife) { self.life = life }

  deinit { end() }

  /// Ends it; nothing happens if it ended before.
  public func end() {
    if isEnded { return }
    isEnded = true
    life.leave()
  }
}

/// Starts what is synced with the first token, and stops it with the last.
final class SyncLife {
  private let start: () -> Void
  private let stop: () -> Void
  private var count = 0

  init(start: @escaping () -> Void, stop: @escaping () -> Void) {
    self.start = start
    self.stop = stop
  }

  /// True while a token lives.
  var isSynced: Bool { count > 0 }

  func enter() -> SyncToken {
    count += 1
    if count == 1 { start() }
    return SyncToken(self)
  }

  fileprivate func leave() {
    count -= 1
    if count == 0 { stop() }
  }
}
