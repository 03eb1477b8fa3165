import Logging
import RunnelNetwork
import Synchronization

/// Public keys that are published on the web: they are cached for the stated time, and then fetched
/// again.
///
/// If fetching fails, the previous keys stay.
final class PublishedKeys: Sendable {
  /// The address of Google's keys, which sign the tokens of all projects.
  static let google =
    "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
  /// The shortest and longest time before keys are fetched again, whatever the answer states.
  private static let secondsMin = 60
  private static let secondsMax = 86_400
  /// The time before keys are fetched again if the answer states none.
  private static let secondsUnsaid = 3600
  /// The first pause after a failure, in seconds; it doubles with every further failure.
  private static let failureSecondsMin = 5
  private static let failureSecondsMax = 600

  private let address: WebAddress
  private let fetcher: WebFetcher
  private let logger: Logger
  private let take: @Sendable (SigningKeys) -> Void
  /// The task that fetches the keys; nil before the start and after the end.
  private let task = Mutex<Task<Void, Never>?>(nil)
  /// True once keys were fetched.
  private let hasKeys = Atomic<Bool>(false)

  /// Makes keys that are not fetched yet; `take` is called with each key set.
  init(
    _ address: WebAddress, fetcher: WebFetcher = WebFetcher(), logger: Logger,
    take: @escaping @Sendable (SigningKeys) -> Void
  ) {
    (self.address, self.fetcher, self.logger, self.take) = (address, fetcher, logger, take)
  }

  /// Fetches the keys now and whenever they expire, until `stop`.
  func start() async {
    let first = await get(failureCount: 0)
    task.withLock { $0 = Task { await self.goOn(after: first) } }
  }

  /// Fetches the keys now, and from then on whenever they expire; nothing before the start and after the end.
  func refresh() {
    task.withLock { task in
      guard let old = task else { return }
      old.cancel()
      task = Task { await self.goOn(after: await self.get(failureCount: 0)) }
    }
  }

  private func goOn(after first: (pauseSeconds: Int, failureCount: Int)) async {
    var (pause, failureCount) = first
    // The sleep is cut short only by `stop` and `refresh`.
    while (try? await Task.sleep(for: .seconds(pause))) != nil {
      (pause, failureCount) = await get(failureCount: failureCount)
    }
  }

  /// Stops fetching keys.
  func stop() { task.withLock { $0.take() }?.cancel() }

  /// Fetches the keys once, after `failureCount` failures.
  ///
  /// - Returns: the seconds until the next fetch, and the number of failures so far.
  func get(failureCount: Int) async -> (pauseSeconds: Int, failureCount: Int) {
    do {
      let text = try await fetcher.get(address)
      let keys = try SigningKeys(parsing: text.bytes, from: address.description)
      // What a later fetch found stays.
      if Task.isCancelled { return (0, 0) }
      take(keys)
      hasKeys.store(true, ordering: .relaxed)
      let pause = PublishedKeys.pause(after: text)
      logger.info("\(keys.count) keys of \(address) were loaded, for \(pause) s")
      return (pause, 0)
    } catch {
      let pause = PublishedKeys.pause(afterFailures: failureCount)
      if Task.isCancelled { return (pause, failureCount + 1) }
      let state =
        hasKeys.load(ordering: .relaxed)
        ? "The old keys stay" : "There are no keys yet, so the tokens that they sign are refused"
      logger.error("\(state), with a new attempt in \(pause) s: \(error)")
      return (pause, failureCount + 1)
    }
  }

  static func pause(after text: WebText) -> Int {
    min(max(text.maxAgeSeconds ?? secondsUnsaid, secondsMin), secondsMax)
  }

  static func pause(afterFailures count: Int) -> Int {
    min(failureSecondsMin << min(count, 10), failureSecondsMax)
  }
}
