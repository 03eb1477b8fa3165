import RunnelServices
import RunnelStreams
import RunnelTree

/// Places of services: a path of a service may have slashes, and is one key of the tree.
enum ServicePlaces {
  /// Returns the place that is meant by a path as it is typed: of a service that has a list or that the profile
  /// names, or of something below one.
  static func place(_ state: AppState, _ typed: Path) -> Path {
    guard state.database.coding == .services, typed.keys.count > 1 else { return typed }
    for count in (2...typed.keys.count).reversed() {
      guard let place = joined(typed, count) else { continue }
      let service = Path(unchecked: [place.keys[0]])
      if state.database.services.contains(service) || view(state, of: service) != nil {
        return place
      }
    }
    return typed
  }

  /// Returns a path whose first keys are joined to that of a service; nil if they are too long for a key.
  static func joined(_ path: Path, _ count: Int) -> Path? {
    let name = path.keys.prefix(count).map { ServiceRecordCoding.name(of: $0.text) }
      .joined(separator: "/")
    guard let text = try? ServiceRecordCoding.key(for: name), let key = try? Key(text) else {
      return nil
    }
    return Path(unchecked: [key] + path.keys.dropFirst(count))
  }

  /// Shows the services that have lists, and those of the profile, in the tree: the server does not tell which
  /// there are.
  static func showServices(_ state: inout AppState, after change: TreeChange, of path: Path) {
    guard path.isRoot, case .failed = change.phase, state.database.coding == .services else {
      return
    }
    let services = state.tabs.lists.map(\.definition.source.path) + state.database.services
    for service in Set(services.compactMap(\.keys.first)).sorted() {
      state.tabs.tree.show(named: service, of: .root, height: state.height)
    }
  }

  /// Returns the index of the list of a service; nil if there is none, or no services.
  static func view(_ state: AppState, of place: Path) -> Int? {
    guard state.database.coding == .services else { return nil }
    let views = state.tabs.lists.indices.filter {
      let screen = state.tabs.lists[$0]
      return screen.definition.source.path == place && screen.drillDown == nil
    }
    return views.first { state.tabs.front == .view($0) } ?? views.first
  }
}
