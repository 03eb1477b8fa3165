import RunnelSync

// What a person who looks at the data wants to know of the connection.

extension OriginLink {
  /// Measures how long the origin takes to answer; the next status has the result, if there is a
  /// connection.
  public nonisolated func measureLatency() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        guard link.isActive else { return }
        link.status.latencyMilliseconds = nil
        link.perform(link.session.ping(now: link.now))
      }
    }
  }

  /// Asks the origin for a sign of life, unless it was heard a moment ago: somebody uses its data.
  ///
  /// A connection on which nothing comes through any more is noticed by that within seconds.
  public nonisolated func attend() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        guard link.isActive else { return }
        link.perform(link.session.attend(now: link.now))
      }
    }
  }
}
