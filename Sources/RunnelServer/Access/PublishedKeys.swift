import Logging
import RunnelNetwork
import Synchronization

/// Public keys that somebody publishes on the web: they are kept as long as he says, and got again.
///
/// While they cannot be got, those that were got before stay.
final class PublishedKeys: Sendable {
  /// Where Google publishes the keys by which it signs the tokens of all projects.
  static let google =
    "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
  /// They are got again after so long, whatever is said.
  private static let secondsMin = 60
  private static let secondsMax = 86_400
  /// They are got again after so long if nothing is said.
  private static let secondsUnsaid = 3600
  /// The first pause after a failure; each further one is twice as long.
  private static let failureSecondsMin = 5
  private static let failureSecondsMax = 600

  private let address: WebAddress
  private let fetcher: WebFetcher
  private let logger: Logger
  private let take: @Sendable (SigningKeys) -> Void
  /// What gets them again; nil before the start and after the end.
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Makes keys that are not there yet; `take` is given each set of them.
  init(
    _ address: WebAddress, fetcher: WebFetcher = WebFetcher(), logger: Logger,
    take: @escaping @Sendable (SigningKeys) -> Void
  ) {
    (self.address, self.fetcher, self.logger, self.take) = (address, fetcher, logger, take)
  }

  /// Gets the keys, and again when it is time, until `stop`.
  func start() async {
    let first = await get(failureCount: 0)
    let task = Task {
      var (pause, failureCount) = first
      // A pause is cut short only when the keys are not wanted any more.
      while (try? await Task.sleep(for: .seconds(pause))) != nil {
        (pause, failureCount) = await get(failureCount: failureCount)
      }
    }
    self.task.withLock { $0 = task }
  }

  /// Gets them no more.
  func stop() { task.withLock { $0.take() }?.cancel() }

  /// Gets the keys once, after so many failures.
  ///
  /// - Returns: after how many seconds they are to be got again, and how often that has failed by then.
  func get(failureCount: Int) async -> (pauseSeconds: Int, failureCount: Int) {
    do {
      let text = try await fetcher.get(address)
      let keys = try SigningKeys(parsing: text.bytes, from: address.description)
      take(keys)
      let pause = PublishedKeys.pause(after: text)
      logger.info("\(keys.count) keys of \(address) were loaded, for \(pause) s")
      return (pause, 0)
    } catch {
      let pause = PublishedKeys.pause(afterFailures: failureCount)
      logger.error("The keys stay as they were, for \(pause) s: \(error)")
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
