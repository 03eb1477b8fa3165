import Logging
import RunnelPostgres
import Synchronization

/// What links a server to one of its stores: the keeper, and whoever takes what it tells.
struct StoreLink: Sendable {
  let store: StoreConfiguration
  let keeper: StoreKeeper
  let news: StoreNewsInbox

  /// Opens a store, and begins a lease.
  private init(
    _ store: StoreConfiguration, _ metrics: ServerMetrics, _ logger: Logger
  ) throws {
    let news = StoreNewsInbox()
    (self.store, self.news) = (store, news)
    keeper = try StoreKeeper(store, logger: logger, metrics: metrics) { news.tell($0) }
    // The databases may take longer to open than a lease lasts.
    keeper.begin()
  }

  /// Opens the stores of a configuration; none for files.
  ///
  /// - Throws: `PostgresError` that names the problem with one; then no lease is left.
  static func all(
    _ configuration: ServerConfiguration, _ metrics: ServerMetrics, _ logger: Logger
  ) throws -> [StoreLink] {
    var links: [StoreLink] = []
    do {
      for store in configuration.stores {
        links.append(try StoreLink(store, metrics, logger))
      }
    } catch {
      for link in links { link.keeper.close() }
      throw error
    }
    return links
  }

  /// A namespace of the store as a server serves it.
  func place(of name: String) -> ServedPlace {
    .namespace(
      ServedNamespace(
        name: name, store: store.name, place: keeper.place, keeper: keeper,
        patience: store.patience))
  }

  /// True if a database is a namespace of this store.
  func has(_ database: ServedDatabase) -> Bool { database.place.keeper === keeper }
}

/// What a keeper tells before the databases are open is dropped: they begin with the newest state.
final class StoreNewsInbox: Sendable {
  private let receiver = Mutex<Receiver<StoreKeeper.News>?>(nil)

  func take(_ receiver: @escaping @Sendable (StoreKeeper.News) -> Void) {
    self.receiver.withLock { $0 = Receiver(take: receiver) }
  }

  func tell(_ news: StoreKeeper.News) { receiver.withLock { $0 }?.take(news) }
}
