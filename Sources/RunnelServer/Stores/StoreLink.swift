import Logging
import Synchronization

/// What links a server to its store: the keeper, and whoever takes what it tells.
struct StoreLink: Sendable {
  let keeper: StoreKeeper
  let news: StoreNewsInbox

  /// Opens the store of a configuration, and begins a lease; nil for files.
  ///
  /// - Throws: `PostgresError` that names the problem.
  init?(
    _ configuration: ServerConfiguration, _ metrics: ServerMetrics, _ logger: Logger
  ) throws {
    guard case .store(let store) = configuration.databases else { return nil }
    let news = StoreNewsInbox()
    self.news = news
    keeper = try StoreKeeper(store, logger: logger, metrics: metrics) { news.tell($0) }
  }
}

/// What a keeper tells before the databases are open is dropped: they begin with the newest state.
final class StoreNewsInbox: Sendable {
  private let receiver = Mutex<(@Sendable (StoreKeeper.News) -> Void)?>(nil)

  func take(_ receiver: @escaping @Sendable (StoreKeeper.News) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  func tell(_ news: StoreKeeper.News) { receiver.withLock { $0 }?(news) }
}
