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
    /// The conditions that were asked for on this connection; nil if another process has it.
    var asked: [String: Set<ChildPredicate>]?
  }

  private let facts = Mutex(Facts())

  /// Makes the reach of a server that was not asked yet.
  package init() {}

  /// Notes a new connection, and whether values are sent as texts on it.
  func noteConnection(isTextual: Bool) {
    facts.withLock { ($0.isTextual, $0.asked) = (isTextual, [:]) }
  }

  /// Notes that the server is asked for the records of a service that meet a condition.
  func note(asked predicate: ChildPredicate, of service: String) {
    facts.withLock { _ = $0.asked?[service, default: []].insert(predicate) }
  }

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

  /// Where a filter runs that the server can check by a condition, and of which the condition says all or a
  /// part: here, if all records were known, so that it was not asked.
  func filterPlace(_ condition: FindCondition?, isWhole: Bool, at place: Path) -> FilterPlace {
    guard let condition, wasAsked(condition.predicate, at: place) else { return .here }
    return isWhole && condition.isWhole ? .server : .both
  }

  private func wasAsked(_ predicate: ChildPredicate, at place: Path) -> Bool {
    let service = (place.keys.first?.text).map { ServiceRecordCoding.name(of: $0) } ?? ""
    return facts.withLock { facts in
      guard let asked = facts.asked else { return true }
      return asked[service, default: []].contains { $0.demands(predicate) }
    }
  }
}

extension ChildPredicate {
  /// True if this is a predicate, or one of which that is a part that has to hold.
  fileprivate func demands(_ part: ChildPredicate) -> Bool {
    if self == part { return true }
    guard case .all(let parts) = self else { return false }
    return parts.contains { $0.demands(part) }
  }
}
