import Foundation
import RunnelServer
import TestSupport
import Testing

/// Answers are compressed for clients that accept it.
@Suite struct CompressionTests {
  private static let text = "\"" + String(repeating: "grüße ", count: 1000) + "\""

  /// Returns the output of `gzip` for bytes.
  private func unzipped(_ bytes: [UInt8]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "--decompress", "--stdout"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    // The bytes fit into the buffer of a pipe.
    try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    try input.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  private func answer(
    _ client: RawClient, _ target: String, _ accept: String
  ) throws -> (head: RawClient.Answer, body: [UInt8]) {
    try client.sendRequest("GET", target, headers: ["Accept-Encoding": accept])
    let head = try client.readHead()
    let length = try #require(head.headers["content-length"].flatMap { Int($0) })
    return (head, try client.read(length))
  }

  @Test(arguments: ["gzip", "deflate, gzip, br", "br, *", "gzip;q=0.5, deflate", "x-gzip"])
  func whoTakesGzipGetsIt(accept: String) async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/x.json", CompressionTests.text)
      let (head, body) = try answer(server.client(), "/x.json", accept)
      #expect(head.headers["content-encoding"] == "gzip")
      #expect(head.headers["vary"] == "Accept-Encoding")
      #expect(body.count < 1000)
      #expect(try unzipped(body) == CompressionTests.text)
    }
  }

  @Test(arguments: ["", "deflate", "br", "gzip;q=0", "gzip; q=0.0", "identity"])
  func whoDoesNotTakeGzipGetsTheText(accept: String) async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/x.json", CompressionTests.text)
      let (head, body) = try answer(server.client(), "/x.json", accept)
      #expect(head.headers["content-encoding"] == nil)
      #expect(String(decoding: body, as: UTF8.self) == CompressionTests.text)
    }
  }

  @Test func smallAnswersAreNotCompressed() async throws {
    try await withServer { server in
      let client = try server.client()
      for _ in 0..<3 {
        let (head, body) = try answer(client, "/x.json", "gzip")
        #expect(head.headers["content-encoding"] == nil)
        #expect(body == Array("null".utf8))
      }
    }
  }

  @Test func largeTextsAreCompressedPieceByPiece() async throws {
    try await withServer { server in
      let client = try server.client()
      for name in ["a", "b"] {
        let text = "\"" + String(repeating: name, count: 300_000) + "\""
        _ = try client.request("PUT", "/x/\(name).json?print=silent", text)
      }
      let plain = try client.request("GET", "/x.json").body
      try client.sendRequest("GET", "/x.json", headers: ["Accept-Encoding": "gzip"])
      let head = try client.readHead()
      #expect(head.headers["content-encoding"] == "gzip")
      #expect(head.headers["transfer-encoding"] == "chunked")
      var bytes: [UInt8] = []
      while let size = Int(try client.readLine(), radix: 16) {
        bytes += try client.read(size)
        _ = try client.readLine()
        if size == 0 { break }
      }
      #expect(bytes.count < 10_000)
      #expect(try unzipped(bytes) == plain)
      #expect(try client.request("GET", "/x/c.json").body == "null")
    }
  }

  @Test func eventsAreSentWithoutDelay() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.sendRequest(
        "GET", "/x.json", headers: ["Accept": "text/event-stream", "Accept-Encoding": "gzip"])
      #expect(try client.readHead().headers["content-encoding"] == nil)
      #expect(try client.readEvent().name == "put")
      _ = try server.request("PUT", "/x.json", "1")
      #expect(try client.readEvent().data.contains("1"))
    }
  }

  @Test func aClientThatExpectsContinueGetsItAndTheAnswer() async throws {
    try await withServer { server in
      let client = try server.client()
      let headers = ["Expect": "100-continue", "Accept-Encoding": "gzip"]
      for _ in 0..<2 {
        #expect(try client.request("PUT", "/x.json", "1", headers: headers).body == "1")
      }
    }
  }

  @Test func aSocketIsNotCompressed() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.openSocket("/.ws?v=5&ns=test", headers: ["Accept-Encoding": "gzip"])
      #expect(try client.readMessage().hasPrefix("{\"t\":\"c\""))
      let large = String(repeating: "x", count: 5000)
      try client.sendText(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":"\#(large)"}}}"#)
      #expect(try client.readMessage().contains("\"ok\""))
    }
  }
}
