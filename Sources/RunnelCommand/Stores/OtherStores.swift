import Foundation
import RunnelApp
import RunnelPostgres

/// The namespaces of the other stores of the configuration: servers of several stores serve one of a name.
struct OtherStores {
  /// A namespace that is live in another store.
  struct Copy {
    /// The names of the store, in their order.
    var stores: [String]
    /// What is noted of its moves there.
    var claim: StoreClaim

    /// The store for people: one may have several names.
    var words: String {
      let others = stores.dropFirst().joined(separator: ", ")
      return stores[0] + (others.isEmpty ? "" : " (also named \(others))")
    }
  }

  /// A store that answers, under all its names.
  private struct Known {
    var store: PostgresStore
    var names: [String]
    var claims: [String: StoreClaim] = [:]
  }

  private var others: [Known] = []
  /// The other names of the store itself.
  private(set) var aliases: [String] = []
  /// The names of the namespaces among them that are being moved.
  private(set) var frozen: Set<String> = []
  /// The names of those that did not answer.
  private(set) var silent: [String] = []

  /// The names of stores, by the names of the namespaces that are live there.
  var namespaces: [String: [String]] {
    var names: [String: [String]] = [:]
    for other in others {
      for name in other.claims.keys { names[name, default: []].append(other.names[0]) }
    }
    return names
  }

  /// The copies of a namespace in other stores.
  func copies(of name: String) -> [Copy] {
    others.compactMap { other in
      other.claims[name].map { Copy(stores: other.names, claim: $0) }
    }
  }

  /// Asks all stores of the configuration but one, whatever their names for it are.
  init(beside store: PostgresStore, named own: String) {
    let path = ConfigurationFile.path(environment: ProcessInfo.processInfo.environment)
    let places = path.map { ConfigurationFile(file: $0).stores } ?? [:]
    defer { for other in others { other.store.close() } }
    for (name, place) in places.sorted(by: { $0.key < $1.key }) where name != own {
      do {
        let other = try PostgresStore(PostgresPlace(place))
        if try isKnown(other, as: name, beside: store) {
          other.close()
          continue
        }
        others.append(Known(store: other, names: [name]))
        try takeNamespaces(of: others.count - 1)
      } catch let error as PostgresError {
        // What is no store yet has no namespaces.
        if error.kind != .unsuitable { silent.append(name) }
      } catch {
        silent.append(name)
      }
    }
  }

  /// Notes a name of a store that is known already, or of the store itself: one store may have several names,
  /// for several users.
  private mutating func isKnown(
    _ other: PostgresStore, as name: String, beside store: PostgresStore
  ) throws -> Bool {
    if try StoreMove.areSame(store, other) {
      aliases.append(name)
      return true
    }
    guard let index = try others.firstIndex(where: { try StoreMove.areSame($0.store, other) })
    else { return false }
    others[index].names.append(name)
    return true
  }

  private mutating func takeNamespaces(of index: Int) throws {
    let other = others[index].store
    try other.checkVersion()
    let live = try other.namespaces().filter { found in
      // What is on its way is told by the store that it comes from.
      try found.state != .moved && !other.isArriving(found)
    }
    let heads = try StoreLease.heads(other.connection, shared: Set(live.map(\.name)))
    let claims = Dictionary(heads.map { ($0.name, $0.claim) }) { first, _ in first }
    for found in live {
      others[index].claims[found.name] = (claims[found.name] ?? nil) ?? StoreClaim()
      if found.state == .frozen { frozen.insert(found.name) }
    }
  }
}
