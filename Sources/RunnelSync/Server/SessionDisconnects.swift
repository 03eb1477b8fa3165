import RunnelBase
import RunnelTree

/// The disconnect requests of a connection, by the callers for whom they were confirmed.
///
/// A connection may sign out, or in as somebody else: what was confirmed before is done for who asked for it.
/// The requests of a later caller are done after those of earlier ones.
struct SessionDisconnects: Sendable {
  private struct Group: Sendable {
    var caller: Caller
    var requests = OnDisconnect()
  }

  private var groups: [Group] = []

  /// Registers a request of a caller.
  ///
  /// - Throws: `TreeError` if a write like it would be refused; then nothing is registered.
  mutating func register(
    _ request: DisconnectRequest, for caller: Caller
  ) throws(TreeError) {
    var changed = groups
    if changed.last?.caller != caller { changed.append(Group(caller: caller)) }
    try changed[changed.count - 1].requests.register(request)
    for index in changed.indices.dropLast() { changed[index].requests.supersede(by: request) }
    groups = changed.filter { !$0.requests.isEmpty }
  }

  /// Takes the caller for whom the connection acts now; a user's requests go with the newest token.
  mutating func adopt(_ caller: Caller) {
    for index in groups.indices where groups[index].caller.isSameUser(as: caller) {
      groups[index].caller = caller
    }
  }

  /// All writes, in the order in which they are done.
  var writes: [DisconnectWrites] { groups.map(SessionDisconnects.writes) }

  /// Removes and returns the writes of a caller.
  mutating func take(of caller: Caller) -> [DisconnectWrites] {
    defer { groups.removeAll { $0.caller == caller } }
    return groups.filter { $0.caller == caller }.map(SessionDisconnects.writes)
  }

  private static func writes(_ group: Group) -> DisconnectWrites {
    var requests = group.requests
    return DisconnectWrites(caller: group.caller, writes: requests.execute())
  }
}

extension Caller {
  /// True if both are the same signed-in user, maybe by different tokens.
  fileprivate func isSameUser(as other: Caller) -> Bool {
    guard let user = auth["uid"]?.string else { return self == other }
    return other.auth["uid"]?.string == user && isAdministrator == other.isAdministrator
  }
}
