/// The head of an answer over HTTP.
package struct RESTHead: Hashable, Sendable {
  /// The status code.
  package var status: Int
  /// The headers, in their order.
  package var headers: [RESTRequest.Header]

  /// Makes a head with the headers that every answer has.
  init(_ status: Int, _ headers: [RESTRequest.Header]) {
    self.status = status
    self.headers =
      headers + [
        RESTRequest.Header("Cache-Control", "no-cache"),
        RESTRequest.Header("Access-Control-Allow-Origin", "*"),
        RESTRequest.Header("Access-Control-Expose-Headers", "ETag"),
      ]
  }

  /// The value of a header.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  static let json = [RESTRequest.Header("Content-Type", "application/json; charset=utf-8")]

  static let events = [RESTRequest.Header("Content-Type", "text/event-stream; charset=utf-8")]

  static func tag(_ tag: String?) -> [RESTRequest.Header] {
    tag.map { [RESTRequest.Header("ETag", $0)] } ?? []
  }

  /// The header that names the option of a limit, since the specified texts do not.
  static func limit(_ limit: RESTLimit?) -> [RESTRequest.Header] {
    limit.map { [RESTRequest.Header("X-Runnel-Limit", $0.rawValue)] } ?? []
  }

  /// The headers that describe the body.
  static func content(_ style: RESTCall.Style) -> [RESTRequest.Header] {
    var headers = json
    if style.callback != nil {
      headers = [
        RESTRequest.Header("Content-Type", "application/javascript; charset=utf-8"),
        RESTRequest.Header("X-Content-Type-Options", "nosniff"),
      ]
    }
    if let name = style.download {
      let value = "attachment; filename=\"\(fileName(name))\""
      headers.append(RESTRequest.Header("Content-Disposition", value))
    }
    return headers
  }

  /// The name without the characters that would end the quoted text or the header.
  private static func fileName(_ name: String) -> String {
    let allowed = name.unicodeScalars.filter { scalar in
      scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "\""
        && scalar != "\\" && scalar != "/"
    }
    let text = String(String.UnicodeScalarView(allowed)).prefix(200)
    return text.isEmpty ? "data.json" : String(text)
  }

  /// The answer to a browser's preflight request: what a web page may do.
  package static func preflight(_ request: RESTRequest) -> [RESTRequest.Header] {
    let methods = "GET, PUT, POST, PATCH, DELETE, OPTIONS"
    // The requested header names are returned unchanged if they are a list of names.
    let asked = request.header("access-control-request-headers") ?? ""
    let isList = asked.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: " ")
        || byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    let names = isList && !asked.isEmpty ? asked : "authorization, content-type, if-match"
    return [
      RESTRequest.Header("Access-Control-Allow-Methods", methods),
      RESTRequest.Header("Access-Control-Allow-Headers", names),
      RESTRequest.Header("Access-Control-Max-Age", "3600"),
    ]
  }

  func with(length: Int) -> RESTHead {
    var head = self
    head.headers.append(RESTRequest.Header("Content-Length", String(length)))
    return head
  }
}
