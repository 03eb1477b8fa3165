/// A token that keeps something synced until it is released or ended.
///
/// A view keeps the token: when the view goes, syncing ends. There may be several tokens; the last
/// one to end stops the syncing. It must be released on the thread of the streams.
public final class SyncToken {
  private let life: SyncLife
  private var isEnded = false

  fileprivate init(_ life: SyncLife) { self.life = life }

  deinit { end() }

  /// Ends the syncing of this token; does nothing if it has ended.
  public func end() {
    if isEnded { return }
    isEnded = true
    life.leave()
  }
}

/// Starts syncing with the first token, and stops it with the last.
final class SyncLife {
  private let start: () -> Void
  private let stop: () -> Void
  private var count = 0

  init(start: @escaping () -> Void, stop: @escaping () -> Void) {
    self.start = start
    self.stop = stop
  }

  /// True while there is a token.
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
