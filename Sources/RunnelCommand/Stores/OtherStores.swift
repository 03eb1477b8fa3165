import Foundation
import RunnelApp
import RunnelPostgres

/// The namespaces of the other stores of the configuration: servers of several stores serve one of a name.
struct OtherStores {
  /// The names of stores, by the names of the namespaces that are live there.
  private(set) var namespaces: [String: [String]] = [:]
  /// The names of the namespaces among them that are being moved.
  private(set) var frozen: Set<String> = []
  /// The names of those that did not answer.
  private(set) var silent: [String] = []

  /// Asks all stores of the configuration but one, whatever their names for it are.
  init(beside store: PostgresStore, named own: String) {
    let path = ConfigurationFile.path(environment: ProcessInfo.processInfo.environment)
    let places = path.map { ConfigurationFile(file: $0).stores } ?? [:]
    // One store may have several names, for several users.
    var known = [store]
    defer { for other in known.dropFirst() { other.close() } }
    for (name, place) in places.sorted(by: { $0.key < $1.key }) where name != own {
      do {
        let other = try PostgresStore(PostgresPlace(place))
        if try known.contains(where: { try StoreMove.areSame($0, other) }) {
          other.close()
          continue
        }
        known.append(other)
        try other.checkVersion()
        for found in try other.namespaces() where found.state != .moved {
          // What is on its way is told by the store that it comes from.
          if try other.isArriving(found) { continue }
          namespaces[found.name, default: []].append(name)
          if found.state == .frozen { frozen.insert(found.name) }
        }
      } catch let error as PostgresError {
        // What is no store yet has no namespaces.
        if error.kind != .unsuitable { silent.append(name) }
      } catch {
        silent.append(name)
      }
    }
  }
}
