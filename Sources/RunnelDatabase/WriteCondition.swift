import RunnelBase
package import RunnelTree

extension WriteCondition {
  /// Checks conditions; those at `/.info` are compared with `info`, the state of the connection.
  ///
  /// - Throws: `DatabaseError` (`changed`) that names the places without the expected values.
  static func check(
    _ conditions: [WriteCondition], _ reader: any TreeReader, _ info: ConnectionInfo
  ) throws {
    var changed: [Path] = []
    for condition in conditions {
      if condition.isAsKnown { continue }
      let path = condition.path
      let present = try path.isInfo ? info.node(at: path) : reader.node(at: path)
      if condition.isAnyObject {
        if present.leaf == nil, !present.isEmpty { continue }
      } else if let node = condition.node {
        if present == node { continue }
      } else if try present.json == Node(json: condition.value).json {
        continue
      }
      if changed.last != path { changed.append(path) }
    }
    guard let first = changed.first else { return }
    let others = changed.count - 1
    let more = others == 1 ? "1 other place" : "\(others) other places"
    let words = others == 0 ? "\(first) was" : "\(first) and \(more) were"
    var error = DatabaseError(.changed, "\(words) changed meanwhile. Nothing was written.")
    error.places = changed
    throw error
  }
}

/// The conditions of a write, and what is done about those that an origin cannot check.
///
/// An origin compares one place, which must hold all that the write changes.
struct ConditionSet {
  var conditions: [WriteCondition] = []
  /// True if a write is refused whose conditions no origin can check; otherwise these are compared with
  /// what the replica shows, and nothing else.
  var needsOrigin = false
  /// The places of records that an operation changes or undoes: of a replica's write, the origin compares what it
  /// replaces there.
  var records: [Path] = []
  /// True if an operation is undone: what it replaces has to be as it is known now, also if it waits.
  var undoes = false

  /// The places around which the origin compares what a write replaces, if no one place holds all of it.
  func placesCompared(undoing entry: HistoryEntry?) -> [Path] {
    let undone = entry.map { entry in entry.operation.map { [$0] } ?? entry.parts.map(\.path) }
    return conditions.map(\.path).filter { !$0.isInfo } + records + (undone ?? [])
  }

  /// The place that the origin compares for a write that consists of some parts; nil for none.
  ///
  /// - Throws: `DatabaseError` (`refused`) if the conditions need an origin that cannot check them.
  func placeCompared(changing parts: [Assignment]) throws(DatabaseError) -> Path? {
    let read = conditions.filter { !$0.isAsKnown }.map(\.path).filter { !$0.isInfo }
    let all = read + parts.map(\.path)
    if let place = read.first(where: { place in all.allSatisfy { place.contains($0) } }) {
      return place
    }
    guard needsOrigin, let first = read.first else { return nil }
    let beside = all.first { !first.contains($0) } ?? first
    throw DatabaseError(
      .refused,
      "The origin compares one place that holds everything, and \(beside) is not below \(first): "
        + "take a place above both as the condition, or a transaction. Nothing was written.")
  }
}

extension DatabaseSession {
  /// Carries out a write, if conditions hold.
  ///
  /// No process can write between the check and the write. On a replica the origin checks them, too, if
  /// one place with a condition holds all others, and all that is changed, and if it is no origin of
  /// services, whose records alone may have moved. If `needsOrigin` is true, a write is refused otherwise.
  ///
  /// - Returns: the deliveries for listeners of this session, in order.
  /// - Throws: `DatabaseError` (`changed` if a condition does not hold); then nothing was written.
  package func write(
    _ write: Write, if conditions: [WriteCondition], needsOrigin: Bool = false
  ) throws -> [Delivery] {
    let info = connectionInfo
    let checked = ConditionSet(conditions: conditions, needsOrigin: needsOrigin)
    return try self.write(if: checked) { reader, _ in
      let now = try moves.followed(write, if: conditions, reader)
      try WriteCondition.check(now.conditions, reader, info)
      return now.write
    }
  }
}
