import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelSync

/// Requests and messages as they stand in the protocol, read and written again.
@Suite struct WireMessageTests {
  private func request(_ text: String) throws -> (number: Int64, request: WireRequest) {
    guard case .request(let number, let action, let body) = try ClientMessage(Array(text.utf8))
    else { throw TreeError(.invalidMessage, "\(text) is no request") }
    return (number, try WireRequest(action: action, body: body))
  }

  private func written(_ number: Int64, _ request: WireRequest) throws -> String {
    let message = ClientMessage.request(number, action: request.action, body: try request.body())
    return String(decoding: message.bytes, as: UTF8.self)
  }

  /// Each is written as it was read, byte by byte.
  @Test(arguments: [
    #"{"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.11-0-0":1}}}}"#,
    #"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/list","h":""}}}"#,
    #"{"t":"d","d":{"r":9,"a":"q","b":{"p":"/list","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}}}"#,
    #"{"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}"#,
    #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/dinos","q":{"sp":3,"sin":true,"i":"height"},"t":2,"h":""}}}"#,
    #"{"t":"d","d":{"r":6,"a":"n","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1}}}"#,
    #"{"t":"d","d":{"r":7,"a":"n","b":{"p":"/counter"}}}"#,
    #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/list/c","d":3}}}"#,
    #"{"t":"d","d":{"r":8,"a":"p","b":{"p":"/counter","d":5,"h":"eVih19a6ZDz3NL32uVBtg9KSgQY="}}}"#,
    #"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/counter","d":1,"h":""}}}"#,
    #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/x","d":{".sv":"timestamp"}}}}"#,
    #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/x/.priority","d":4}}}"#,
    #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/.priority","d":"x"}}}"#,
    #"{"t":"d","d":{"r":11,"a":"m","b":{"p":"/","d":{"users/ada/age":37,"log/k1":true,"old":null}}}}"#,
    #"{"t":"d","d":{"r":12,"a":"m","b":{"p":"/list","d":{"a":9,"b/.priority":1}}}}"#,
    #"{"t":"d","d":{"r":13,"a":"o","b":{"p":"/presence/ada","d":{"state":"offline","at":{".sv":"timestamp"}}}}}"#,
    #"{"t":"d","d":{"r":14,"a":"om","b":{"p":"/room","d":{"ada":null}}}}"#,
    #"{"t":"d","d":{"r":15,"a":"oc","b":{"p":"/presence/ada","d":null}}}"#,
    #"{"t":"d","d":{"r":2,"a":"gauth","b":{"cred":"owner"}}}"#,
    #"{"t":"d","d":{"r":2,"a":"auth","b":{"cred":"a.b.c"}}}"#,
    #"{"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"bob"}}}}"#,
    #"{"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner","noauth":true}}}"#,
    #"{"t":"d","d":{"r":3,"a":"unauth","b":{}}}"#,
    #"{"t":"d","d":{"r":3,"a":"appcheck","b":{"token":"x"}}}"#,
    #"{"t":"d","d":{"r":3,"a":"unappeck","b":{}}}"#,
    #"{"t":"d","d":{"r":20,"a":"g","b":{"p":"/list","q":{}}}}"#,
    #"{"t":"d","d":{"r":21,"a":"g","b":{"p":"/nothing","q":{"l":1,"vf":"l"}}}}"#,
    #"{"t":"d","d":{"r":9,"a":"g","b":{"p":"/d","q":{"sp":3,"sn":"[MAX_NAME]","sin":false,"i":"height"}}}}"#,
    #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":1,"w":["c1",7]}}}"#,
    #"{"t":"d","d":{"r":7,"a":"m","b":{"p":"/a","d":{"b":1},"w":["c1",8]}}}"#,
    #"{"t":"d","d":{"r":7,"a":"m","b":{"p":"/a","d":{"b":1,"c/d":2},"hs":{"b":"x=","c/d":""},"w":["c1",8]}}}"#,
  ])
  func aRequestIsReadAndWritten(text: String) throws {
    let read = try request(text)
    #expect(try written(read.number, read.request) == text)
  }

  @Test func aCompoundHashIsRead() throws {
    let text =
      #"{"t":"d","d":{"r":5,"a":"q","b":{"p":"/log","h":"x","ch":{"hs":["a","b",""],"ps":["2","10"]}}}}"#
    let read = try request(text)
    guard case .listen(_, _, let known) = read.request else {
      Issue.record("it is a listen")
      return
    }
    #expect(known.ranges?.hashes == ["a", "b", ""])
    #expect(try written(5, read.request) == text)
  }

  @Test func pathsNeedNoFirstSlash() throws {
    let read = try request(#"{"t":"d","d":{"r":2,"a":"q","b":{"p":"list","h":""}}}"#)
    #expect(
      read.request
        == .listen(try AskedQuery(nil, at: Path("/list")), tag: nil, known: KnownHash(whole: "")))
  }

  @Test(arguments: ["l", "u"]) func theOldWordsForListensAreTaken(action: String) throws {
    let read = try request(#"{"t":"d","d":{"r":2,"a":"\#(action)","b":{"p":"/list"}}}"#)
    #expect(read.request.action == (action == "l" ? "q" : "n"))
  }

  /// Members in another order are the same query.
  @Test func aQueryIsKnownByItsObject() throws {
    let path = try Path("/list")
    let one = try AskedQuery(JSONValue(parsing: #"{"l":2,"vf":"r","i":".key"}"#), at: path)
    let other = try AskedQuery(JSONValue(parsing: #"{"i":".key","vf":"r","l":2}"#), at: path)
    #expect(one == other)
    #expect(try AskedQuery(JSONValue(parsing: "{}"), at: path) == AskedQuery(nil, at: path))
  }

  @Test(arguments: [
    (#"{"r":1,"a":"x","b":{}}"#, "no such action"),
    (#"{"r":1,"a":"q","b":{"h":""}}"#, "no \"p\""),
    (#"{"r":1,"a":"q","b":{"p":"/a.b"}}"#, "a.b"),
    (#"{"r":1,"a":"q","b":{"p":5}}"#, "\"p\" is not a string"),
    (#"{"r":1,"a":"q","b":{"p":"/a","q":{"i":".key","l":2}}}"#, "has a tag"),
    (#"{"r":1,"a":"q","b":{"p":"/a","q":{"zz":1},"t":1}}"#, "zz"),
    (#"{"r":1,"a":"q","b":{"p":"/a","q":[],"t":1}}"#, "A query is an object"),
    (#"{"r":1,"a":"q","b":{"p":"/a","q":{"l":1},"t":1.5}}"#, "\"t\" is not a whole number"),
    (#"{"r":1,"a":"q","b":{"p":"/a/.priority"}}"#, "ends in .priority"),
    (#"{"r":1,"a":"q","b":{"p":"/a","h":"","ch":{"hs":[],"ps":[]}}}"#, "compound hash"),
    (#"{"r":1,"a":"p","b":{"p":"/a"}}"#, "no \"d\""),
    (#"{"r":1,"a":"p","b":{"p":"/a/.priority","d":1,"h":"x"}}"#, "on a condition"),
    (#"{"r":1,"a":"p","b":{"p":"/a","d":1,"w":["c",0]}}"#, "number from 1"),
    (#"{"r":1,"a":"p","b":{"p":"/a","d":1,"w":"c"}}"#, "number from 1"),
    (
      #"{"r":1,"a":"m","b":{"p":"/a","d":{"b":1},"hs":{"b":1}}}"#, "not an object of hashes by path"
    ),
    (#"{"r":1,"a":"m","b":{"p":"/a","d":[1]}}"#, "not an object of values by path"),
    (#"{"r":1,"a":"auth","b":{}}"#, "no \"cred\""),
    (#"{"r":1,"a":"auth","b":[]}"#, "it is not an object"),
  ])
  func aRequestThatCannotBeReadSaysWhy(data: String, reason: String) throws {
    let error = #expect(throws: TreeError.self) {
      try request(#"{"t":"d","d":\#(data)}"#)
    }
    #expect(error.map { "\($0)".contains(reason) } == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    "", "null", "[]", "7", "{", #"{"t":"d"}"#, #"{"t":"z","d":{}}"#,
    #"{"t":"d","d":{"a":"q","b":{}}}"#,
    #"{"t":"d","d":{"r":"1","a":"q","b":{}}}"#, #"{"t":"d","d":{"r":1,"b":{}}}"#,
    #"{"t":"d","d":{"r":1,"a":"q"}}"#, #"{"t":"c","d":{}}"#, "\u{FEFF}{}",
  ])
  func whatIsNoMessageIsRefused(text: String) {
    #expect(throws: TreeError.self) { try ClientMessage(Array(text.utf8)) }
  }

  @Test func bytesThatAreNoUTF8AreRefused() {
    #expect(throws: TreeError.self) { try ClientMessage([0x22, 0xFF, 0x22]) }
  }

  @Test func aPingIsAControlMessage() throws {
    let text = #"{"t":"c","d":{"t":"p","d":{}}}"#
    #expect(try ClientMessage(Array(text.utf8)) == .ping)
    #expect(String(decoding: ClientMessage.ping.bytes, as: UTF8.self) == text)
  }

  @Test(arguments: [
    #"{"t":"c","d":{"t":"h","d":{"ts":1735689600123,"v":"5","h":"localhost:9000","s":"Ks0Qx8b1"}}}"#,
    #"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":["w"]}}}"#,
    #"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":["w","hs"]}}}"#,
    #"{"t":"c","d":{"t":"r","d":"b.example:9000"}}"#,
    #"{"t":"c","d":{"t":"s","d":"maintenance"}}"#,
    #"{"t":"c","d":{"t":"e","d":"bad"}}"#,
    #"{"t":"c","d":{"t":"o","d":{}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#,
    #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}"#,
    #"{"t":"d","d":{"r":4,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#,
    #"{"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}"#,
    #"{"t":"d","d":{"r":8,"b":{"s":"datastale","d":"Transaction hash does not match"}}}"#,
    #"{"t":"d","d":{"r":21,"b":{"s":"ok","d":null}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}"#,
    #"{"t":"d","d":{"a":"m","b":{"p":"list","d":{"d":4,"b":null},"t":1}}}"#,
    #"{"t":"d","d":{"a":"c","b":{"p":"/list","q":[{"l":2,"vf":"r","i":".key"}]}}}"#,
    #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}}"#,
  ])
  func aServersMessageIsReadAndWritten(text: String) throws {
    let message = try ServerMessage(Array(text.utf8))
    #expect(String(decoding: message.bytes, as: UTF8.self) == text)
  }

  @Test func aFatalComplaintIsAnError() {
    #expect(throws: TreeError.self) {
      try ServerMessage(Array(#"{"t":"d","d":{"error":"no"}}"#.utf8))
    }
    #expect(throws: TreeError.self) { try ServerMessage(Array(#"{"error":"no"}"#.utf8)) }
  }

  /// Requests that were changed at random are read or refused, and nothing else happens.
  @Test(arguments: Seeds.first(300))
  func anyBytesAreReadOrRefused(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let text =
      #"{"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key","sp":"a"},"t":1,"h":""}}}"#
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1..<6, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
      }
    }
    guard case .request(_, let action, let body)? = try? ClientMessage(bytes) else { return }
    guard let request = try? WireRequest(action: action, body: body) else { return }
    // What was read can be written; a neighbour of a key may stand for an exclusive bound.
    #expect(throws: Never.self) { try request.body() }
  }
}
