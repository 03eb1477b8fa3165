/// An operation in the matrix of identities and operations.
struct MatrixOperation: Sendable {
  enum Kind: Sendable {
    /// A request over HTTP: method, text after the path, body, headers.
    case request(String, String, String?, [String: String])
    /// The start of an event stream: text after the path.
    case stream(String)
    /// A request of a WebSocket: the action and its body.
    case message(String, String)
  }

  var kind: Kind
  var writes = false
  /// True if it is done only if the hash of the place is a certain one.
  var isConditional = false

  /// Returns all operations at a place; `hash` is the hash of the place's data in one of two
  /// worlds.
  static func all(at place: String, hash: String) -> [MatrixOperation] {
    reads(hash: hash) + writes(at: place, hash: hash) + messages(at: place, hash: hash)
  }

  private static func get(
    _ rest: String, _ headers: [String: String] = [:]
  ) -> MatrixOperation {
    MatrixOperation(kind: .request("GET", rest, nil, headers))
  }

  private static func reads(hash: String) -> [MatrixOperation] {
    [
      get(".json?"), get("/a.json?"), get("/a/n.json?"), get(".json?shallow=true&"),
      get(".json?orderBy=%22$key%22&limitToFirst=1&"), get(".json?orderBy=%22n%22&startAt=1&"),
      get(".json?orderBy=%22$value%22&equalTo=1&"), get(".json?orderBy=%22$priority%22&"),
      get(".json?shallow=true&limitToFirst=1&"), get(".json?format=export&"),
      get(".json?print=pretty&"), get(".json?print=silent&"), get(".json?callback=f&"),
      get(".json?download=x&"), get(".json?", ["X-Firebase-ETag": "true"]),
      get(".json?", ["if-none-match": hash]),
      MatrixOperation(kind: .stream(".json?")), MatrixOperation(kind: .stream("/a.json?")),
      MatrixOperation(kind: .stream(".json?orderBy=%22$key%22&limitToLast=1&")),
    ]
  }

  private static func write(
    _ method: String, _ rest: String, _ body: String?, _ headers: [String: String] = [:]
  ) -> MatrixOperation {
    MatrixOperation(kind: .request(method, rest, body, headers), writes: true)
  }

  private static func writes(at place: String, hash: String) -> [MatrixOperation] {
    let increment = "{\".sv\":{\"increment\":1}}"
    let tag = ["X-Firebase-ETag": "true"]
    return [
      write("PUT", ".json?", "{\"a\":{\"n\":9}}"), write("PUT", "/a/n.json?", "9"),
      write("PUT", ".json?print=silent&", "9"), write("PUT", ".json?", "9", tag),
      write("PUT", "/n.json?", increment), write("PUT", "/x.json?", "{\".sv\":\"timestamp\"}"),
      write("PUT", ".json?", "{\".value\":9,\".priority\":1}"),
      write("PATCH", ".json?", "{\"a\":9}"),
      write("PATCH", ".json?", "{\"a/n\":9,\"z\":null}", tag),
      write("PATCH", ".json?", "{\"n\":\(increment)}"), write("POST", ".json?", "9"),
      write("POST", ".json?x-http-method-override=PATCH&", "{\"a\":9}"),
      write("DELETE", ".json?", nil), write("DELETE", "/a.json?", nil, tag),
    ]
  }

  private static func messages(at place: String, hash: String) -> [MatrixOperation] {
    func ask(_ action: String, _ body: String) -> MatrixOperation {
      MatrixOperation(kind: .message(action, body))
    }
    func write(_ action: String, _ body: String) -> MatrixOperation {
      MatrixOperation(kind: .message(action, body), writes: true)
    }
    let key = "{\"i\":\".key\",\"l\":1,\"vf\":\"l\"}"
    return [
      ask("q", "{\"p\":\"\(place)\",\"h\":\"\"}"),
      ask("q", "{\"p\":\"\(place)\",\"h\":\"\(hash)\"}"),
      ask("q", "{\"p\":\"\(place)/a\",\"h\":\"\"}"),
      ask("q", "{\"p\":\"\(place)\",\"h\":\"\",\"q\":\(key),\"t\":1}"),
      ask("q", "{\"p\":\"\(place)\",\"h\":\"\",\"q\":{\"i\":\"n\",\"sp\":1},\"t\":1}"),
      ask(
        "q", "{\"p\":\"\(place)\",\"h\":\"x\",\"ch\":{\"hs\":[\"\(hash)\",\"x\"],\"ps\":[\"a\"]}}"),
      ask("g", "{\"p\":\"\(place)\"}"), ask("g", "{\"p\":\"\(place)\",\"q\":\(key)}"),
      ask("n", "{\"p\":\"\(place)\"}"), ask("oc", "{\"p\":\"\(place)\"}"),
      write("p", "{\"p\":\"\(place)\",\"d\":9}"),
      write("p", "{\"p\":\"\(place)/n\",\"d\":{\".sv\":{\"increment\":1}}}"),
      write("p", "{\"p\":\"\(place)/.priority\",\"d\":9}"),
      write("m", "{\"p\":\"\(place)\",\"d\":{\"a\":9,\"z\":null}}"),
      write("m", "{\"p\":\"/\",\"d\":{\"public/x\":9,\"\(place.dropFirst())/a\":9}}"),
      // These have no conditions: a hash is nothing to them.
      write("m", "{\"p\":\"\(place)\",\"d\":{\"a\":9},\"h\":\"\(hash)\"}"),
      write("o", "{\"p\":\"\(place)\",\"d\":9,\"h\":\"\(hash)\"}"),
      write("o", "{\"p\":\"\(place)\",\"d\":9}"),
      write("om", "{\"p\":\"\(place)\",\"d\":{\"a\":9}}"),
    ]
  }

  /// Returns the conditional writes: with the hash of the data in one of two worlds, and with that of
  /// nothing.
  static func conditional(at place: String, hash: String) -> [MatrixOperation] {
    let body = "\"p\":\"\(place)\",\"d\":9,\"h\""
    var all = [
      write("PUT", ".json?", "9", ["if-match": hash]),
      write("PUT", ".json?", "9", ["if-match": "null_etag"]),
      write("DELETE", ".json?", nil, ["if-match": hash]),
      MatrixOperation(kind: .message("p", "{\(body):\"\(hash)\"}"), writes: true),
      MatrixOperation(kind: .message("p", "{\(body):\"\"}"), writes: true),
    ]
    for index in all.indices { all[index].isConditional = true }
    return all
  }
}
