import RunnelServices
public import RunnelTree

/// A collection of a tree that is served as a service of Feathers.
public struct ServedCollection: Hashable, Sendable {
  /// The field of records that has their id.
  static let idField = "id"
  private static let form = "give PATH, PATH=PLACE or PATH=PLACE,multi"
  /// First pieces of paths that have a meaning of their own on the server.
  private static let reserved: Set<Substring> = [
    "authentication", "socket.io", "oauth2", "identitytoolkit", "emulator", "v1", "v2",
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
  ]

  /// The path of the service, without slashes at its ends.
  public let service: String
  /// The place whose children are the records.
  public let place: Path
  /// True if one call may concern several records.
  public let allowsMulti: Bool

  /// Reads a collection: `PATH[=PLACE][,multi]`; the place is the path if it is not given.
  ///
  /// - Throws: `ServerError` that tells what is wrong.
  public init(_ text: String) throws(ServerError) {
    var words = text.split(separator: ",", omittingEmptySubsequences: false)[...]
    let halves = (words.popFirst() ?? "").split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let pieces = (halves.first ?? "").split(separator: "/")
    service = pieces.joined(separator: "/")
    try ServedCollection.check(pieces, text)
    do throws(TreeError) {
      place = try Path(String(halves.count > 1 ? halves[1] : Substring(service)))
    } catch {
      throw ServerError("\(text): \(error.message)", isUsage: true)
    }
    if place.isRoot || place.isInfo {
      throw ServerError("\(text): the place is a collection below the root.", isUsage: true)
    }
    if let word = words.first(where: { $0 != "multi" }) {
      throw ServerError("\(text): \(word) is not known; \(ServedCollection.form).", isUsage: true)
    }
    allowsMulti = !words.isEmpty
  }

  private static func check(_ pieces: [Substring], _ text: String) throws(ServerError) {
    guard let first = pieces.first else {
      throw ServerError("\(text): the service has no path; \(form).", isUsage: true)
    }
    if reserved.contains(first) {
      throw ServerError(
        "\(text): \(first) has a meaning of its own here; give another path.", isUsage: true)
    }
    let isPlain = pieces.allSatisfy { piece in
      piece.unicodeScalars.allSatisfy { $0.value > 0x20 && !"%?#:".unicodeScalars.contains($0) }
        && !piece.hasPrefix(".") && !piece.hasSuffix(".json")
    }
    if !isPlain {
      throw ServerError(
        "\(text): the path of a service has no point in front, no .json and none of % ? # :.",
        isUsage: true)
    }
  }
}

/// How collections are served as services of Feathers.
public struct ServicesConfiguration: Sendable {
  /// The collections; without any, there are no services.
  public var collections: [ServedCollection] = []
  /// The records of a page if a query names no number.
  public var pageStandard = 10
  /// The most records of a page.
  public var pageMax = 50
  /// The most sessions of Socket.IO at once.
  public var sessionsMax = 10_000
  /// The most sessions of Socket.IO of one address at once.
  public var sessionsPerAddressMax = 1_000
  /// The times of the carrier of Socket.IO.
  package var times = EngineTimes()

  /// Makes the usual configuration, without a collection.
  public init() {}

  /// What is understood of queries: `$and` may stand inside `$or`.
  var rules: QueryRules {
    QueryRules(
      operators: ["$and"], pages: PageRules(standard: min(pageStandard, pageMax), max: pageMax))
  }
}

/// The times of Engine.IO, in milliseconds.
package struct EngineTimes: Hashable, Sendable {
  /// The time between pings.
  package var pingInterval: Int64 = 25_000
  /// The longest time for the answer to a ping.
  package var pingTimeout: Int64 = 20_000
  /// The longest time until the client connects to the namespace.
  package var connectTimeout: Int64 = 45_000
  /// The longest time for the move to a web socket.
  package var upgradeTimeout: Int64 = 10_000

  /// Makes the usual times.
  package init() {}
}

/// A limit of services that was reached, by its name for people.
enum ServiceLimit: String, Hashable, Sendable, CaseIterable {
  /// `sessionsMax`.
  case sessions = "max-service-sessions"
  /// `sessionsPerAddressMax`.
  case sessionsPerAddress = "service-sessions-per-address"
}
