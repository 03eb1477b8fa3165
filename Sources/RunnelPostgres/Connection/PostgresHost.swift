/// One of the hosts that a place names.
struct PostgresHost: Hashable, Sendable {
  /// Its name; empty for none.
  var name: String
  /// Its address, which needs no look-up of the name; empty for none.
  var address: String
  /// Its port; empty for the usual one.
  var port: String

  /// The hosts in the options of libpq, which have lists with commas.
  static func all(name: String, address: String, port: String) -> [PostgresHost] {
    func list(_ text: String) -> [String] {
      text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    let (names, addresses, ports) = (list(name), list(address), list(port))
    let count = address.isEmpty ? names.count : addresses.count
    return (0..<count).map { index in
      PostgresHost(
        name: names.count == count ? names[index] : "",
        address: address.isEmpty ? "" : addresses[index],
        port: ports.count == count ? ports[index] : ports.count == 1 ? port : "")
    }
  }
}
