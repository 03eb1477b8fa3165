import RunnelBase
import RunnelTree

/// The places that connections hold only as long as they last, such as the entries of who is here.
///
/// A place is *passing* if nothing stood there when a connection asked for its removal at its end, and only
/// that connection has written it since. It is empty before and after, so its writes make no entries in the
/// history, which would else be full of them.
///
/// Limit: a connection that takes back the request for the removal leaves a value without an entry.
///
/// Isolation: a value of the tree's thread.
struct PassingPlaces {
  /// The most places of a connection that are known; the writes of others make entries.
  private static let placesMax = 100

  private var owners = PathTree<Int64>()
  private var places: [Int64: Set<Path>] = [:]

  /// Takes the writes for the end of a connection; places that it asks no more to be removed are passing no
  /// more.
  ///
  /// O(writes).
  ///
  /// - Parameters:
  ///   - writes: all that the connection asked for.
  ///   - connection: the connection.
  ///   - isFree: tells whether nothing stands at a place.
  mutating func take(
    _ writes: [Write], of connection: Int64, isFree: (Path) throws -> Bool
  ) rethrows {
    var removed: Set<Path> = []
    for case .set(let path, .null) in writes.prefix(PassingPlaces.placesMax) {
      removed.insert(path)
    }
    for path in places[connection] ?? [] where !removed.contains(path) { drop(path) }
    for path in removed where owners[path] == nil {
      if try owners.hasValues(around: path) || !isFree(path) { continue }
      owners[path] = connection
      places[connection, default: []].insert(path)
    }
  }

  /// The places of a connection.
  func places(of connection: Int64) -> Set<Path> { places[connection] ?? [] }

  /// Returns whether all of some places are passing, as those of a connection.
  ///
  /// O(depth²) for each place.
  func hold(_ paths: [Path], of connection: Int64) -> Bool {
    guard places[connection] != nil else { return false }
    return paths.allSatisfy { path in
      (0...path.keys.count).contains { depth in
        owners[Path(unchecked: Array(path.keys[..<depth]))] == connection
      }
    }
  }

  /// Forgets the places around one that was written by somebody else.
  ///
  /// O(depth²), and O(n) in the places below it.
  mutating func forget(around path: Path) {
    guard owners.hasValues(around: path) else { return }
    for depth in 0..<path.keys.count { drop(Path(unchecked: Array(path.keys[..<depth]))) }
    for place in owners.paths(at: path) { drop(place) }
  }

  /// Forgets the places of a connection that has ended.
  mutating func end(_ connection: Int64) {
    for path in places[connection] ?? [] { drop(path) }
  }

  private mutating func drop(_ path: Path) {
    guard let connection = owners[path] else { return }
    owners[path] = nil
    places[connection]?.remove(path)
    if places[connection]?.isEmpty == true { places[connection] = nil }
  }
}
