import RunnelApp
import RunnelPostgres
import RunnelServer

/// The store that has a namespace: the one that is named, or the one to which it was moved from there.
struct FoundNamespace {
  private static let movesMax = 8
  /// After this time without a primary, whoever looks at the namespace is told so: what it writes waits in its
  /// replica as well.
  private static let sessionPatience = Duration.seconds(6)

  /// The name of the store.
  let store: String
  /// How a server serves this namespace alone.
  let configuration: StoreConfiguration

  /// Looks for a namespace.
  ///
  /// - Throws: `Failure` if it is not there, or its store has no name here; `PostgresError` if the named store
  ///   cannot be used.
  init(_ namespace: String, ofStore first: String) throws {
    var name = first
    var words = ""
    for _ in 0...FoundNamespace.movesMax {
      let place = try StoreOption.place(named: name)
      let next: PostgresStore.NewPlace?
      do {
        next = try FoundNamespace.newPlace(of: namespace, place)
      } catch {
        if words.isEmpty { throw error }
        let text = "\(namespace) was moved to \(words), which cannot be opened here: \(error)"
        guard let error = error as? PostgresError, error.isOutage else { throw Failure(text) }
        throw PostgresError(error.kind, text)
      }
      guard let next else {
        self.init(namespace, name, place)
        return
      }
      words = next.words
      guard PostgresPlace.isName(next.store) else {
        throw Failure("\(namespace) was moved to \(words): name that one with --store.")
      }
      name = next.store
    }
    throw Failure("\(namespace) was moved in a circle: the last store was to be \(words).")
  }

  /// The namespace in the store that is named, which was not asked.
  ///
  /// - Throws: `Failure` if the name is none.
  init(unasked namespace: String, ofStore name: String) throws {
    self.init(namespace, name, try StoreOption.place(named: name))
  }

  private init(_ namespace: String, _ store: String, _ place: PostgresPlace) {
    var configuration = StoreConfiguration(name: store, connection: place.text)
    configuration.namespace = namespace
    configuration.sessionPatience = FoundNamespace.sessionPatience
    (self.store, self.configuration) = (store, configuration)
  }

  /// Where a namespace was moved to; nil if it is in the store.
  private static func newPlace(
    of namespace: String, _ place: PostgresPlace
  ) throws -> PostgresStore.NewPlace? {
    let store = try PostgresStore(place)
    defer { store.close() }
    try store.checkVersion()
    if let found = try store.namespace(named: namespace) {
      return found.state == .moved ? try store.newPlace(of: found) : nil
    }
    if let former = try store.formerPlace(of: namespace) { return former }
    _ = try RulesOfStoreCommand.namespace(named: namespace, of: store)
    return nil
  }
}
