import Glibc
import RunnelBase
import RunnelNetwork
import RunnelWorkspace

/// The place at which a possible server of the database answers its owner.
public struct ServerPlace: Hashable, Sendable {
  /// The path of its Unix socket.
  public var socket: String
  /// The name of the database if the server has several; otherwise nil.
  public var database: String?

  /// Makes a place.
  public init(socket: String, database: String?) {
    (self.socket, self.database) = (socket, database)
  }
}

extension ServerPlace {
  /// Returns the answer of the first server that gives one; blocks the thread until then.
  static func answer(to request: ServerRequest, at places: [ServerPlace]) -> Answer {
    var problem = "no server serves this database: `runnel serve` does"
    for place in places {
      do throws(NetworkError) {
        // The path says which server cannot be asked, although it may serve.
        try SocketAsker.check(file: place.socket)
        if access(place.socket, F_OK) != 0 { continue }
        return try place.answer(to: request)
      } catch {
        problem = error.message
      }
    }
    return .refused(Refusal(problem))
  }

  private func answer(to request: ServerRequest) throws(NetworkError) -> Answer {
    let asker = SocketAsker(file: socket)
    switch request {
    case .clients(let countMax):
      // One extra connection shows whether there are more.
      var target = "/connections?limit=\(countMax + 1)"
      if let database { target += "&database=\(database)" }
      let answer = try asker.ask(.get, target)
      if answer.status == 404 {
        throw NetworkError("the server of this folder does not serve this database")
      }
      guard answer.status == 200 else { throw unexpected(answer) }
      let clients = try answer.bytes.split(separator: 10).map { (line) throws(NetworkError) in
        // A line that is not JSON is not a connection.
        guard let json = try? JSONValue(parsing: Array(line)), let client = ServerClient(told: json)
        else { throw NetworkError("\(socket) sent a line that is not a connection.") }
        return client
      }
      return .clients(
        ClientPage(Array(clients.prefix(countMax)), hasMore: clients.count > countMax))
    case .disconnect(let id):
      let answer = try asker.ask(.delete, "/connections/\(id)")
      guard answer.status == 204 || answer.status == 404 else { throw unexpected(answer) }
      return .disconnected(answer.status == 204)
    }
  }

  private func unexpected(_ answer: SocketAsker.Answer) -> NetworkError {
    NetworkError("\(socket) answered with status \(answer.status).")
  }
}

extension ServerClient {
  /// Reads a line of a server's list; returns nil if the line is not a connection.
  init?(told json: JSONValue) {
    guard let id = json["id"]?.int, let kind = json["kind"]?.string,
      let address = json["address"]?.string, let user = json["user"]?.string,
      let listens = json["listens"]?.int, let bytes = json["bytes"]?.int,
      let since = json["since"]?.string.flatMap({ ServerClient.time($0) })
    else { return nil }
    self.init(
      id: Int64(id), kind: kind, address: address, user: user, listenCount: listens,
      sentBytes: bytes, since: since)
  }

  /// Reads a time such as `2026-08-24T09:30:05.123Z`, in milliseconds since 1970; returns nil if
  /// invalid.
  private static func time(_ text: String) -> Int64? {
    guard text.hasSuffix("Z") else { return nil }
    let parts = text.dropLast().split { "-T:.".contains($0) }.map { Int($0) ?? -1 }
    guard parts.count == 7 else { return nil }
    return CivilTime(
      year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
      second: parts[5], millisecond: parts[6])?.milliseconds()
  }
}
