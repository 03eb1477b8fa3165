/// On which server the sessions of a namespace are, so that few servers follow its feed.
///
/// All servers that know the same servers choose the same one: each server has a number for each
/// namespace, and the greatest wins. So if a server comes or goes, only the sessions move that come to
/// it, or were there.
///
/// Source: several servers, section 4, "Cost".
package struct Placement: Sendable {
  private let own: PostgresIdentifier
  /// The servers with an address for clients.
  private let servers: [LiveServer]

  /// Makes the placement by one of the servers, which sends nobody away if it has no address itself.
  package init(own: PostgresIdentifier, among servers: [LiveServer]) {
    let known = servers.filter { !$0.address.isEmpty }
    self.own = own
    self.servers = known.contains { $0.identifier == own } ? known : []
  }

  /// Where a client of a namespace is to go; nil to stay.
  package func address(of namespace: String) -> String? {
    let chosen = servers.max { left, right in
      Placement.number(left.identifier, namespace) < Placement.number(right.identifier, namespace)
    }
    return chosen.flatMap { $0.identifier == own ? nil : $0.address }
  }

  /// FNV-1a, mixed so that each bit counts.
  private static func number(_ server: PostgresIdentifier, _ namespace: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in Array(namespace.utf8) + server.bytes {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ hash >> 33
  }
}
