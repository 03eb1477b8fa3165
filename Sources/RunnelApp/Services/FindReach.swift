import RunnelBase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import RunnelWorkspace
import Synchronization

/// What a server of services can find by itself, as far as that is known.
///
/// The link learns it on the tree's thread; lists ask on the runtime's.
package final class FindReach: Sendable {
  private struct Facts {
    var isTextual = false
    var declined: [String: Set<ChildPredicate>] = [:]
  }

  private let facts = Mutex(Facts())

  /// Makes the reach of a server that was not asked yet.
  package init() {}

  /// Notes whether values are sent as texts.
  func note(isTextual: Bool) { facts.withLock { $0.isTextual = isTextual } }

  /// Notes that the server does not check a condition on the records of a service.
  func note(declined predicate: ChildPredicate, by service: String) {
    facts.withLock { _ = $0.declined[service, default: []].insert(predicate) }
  }

  /// The part of a predicate that the server checks for the records of a service; nil for none.
  func condition(_ predicate: ChildPredicate, at place: Path) -> FindCondition? {
    guard let key = place.keys.first, place.keys.count == 1 else { return nil }
    return facts.withLock { facts in
      // The name of the id does not matter here.
      let found = FindCondition(predicate, idField: "id", isTextual: facts.isTextual)
      let service = ServiceRecordCoding.name(of: key.text)
      guard let found, facts.declined[service]?.contains(found.predicate) != true else {
        return nil
      }
      return found
    }
  }

  /// Where a filter runs that the server is asked for with a condition.
  static func place(_ condition: FindCondition?, isWhole: Bool) -> FilterPlace {
    guard let condition else { return .here }
    return isWhole && condition.isWhole ? .server : .both
  }
}
