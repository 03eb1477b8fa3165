import RunnelNetwork
import TestSupport
import Testing

@Suite struct WebFetcherTests {
  @Test(arguments: [
    ("https://a.example/k", "https://a.example/k", 443),
    ("HTTPS://A.Example:8443/k?x=1#y", "https://a.example:8443/k?x=1", 8443),
    ("http://[::1]:9/", "http://[::1]:9/", 9), ("http://localhost", "http://localhost/", 80),
    ("https://a.example?x", "https://a.example/?x", 443),
  ])
  func anAddressIsReadAndWritten(text: String, written: String, port: Int) throws {
    let address = try #require(WebAddress(text))
    #expect(address.description == written)
    #expect(address.port == port)
  }

  @Test(arguments: [
    "", "ftp://a", "https://", "https://a:b/", "https://a:0/", "https://a:70000/",
    "https://u@a/", "https://a /", "https://ä/", "a.example", "https://[::1/",
  ])
  func whatIsNoAddressIsNotRead(text: String) { #expect(WebAddress(text) == nil) }

  private func message(_ text: String, _ fetcher: WebFetcher = WebFetcher()) async -> String {
    guard let address = WebAddress(text) else { return "no address" }
    do throws(NetworkError) {
      return "read: " + String(decoding: try await fetcher.get(address).bytes, as: UTF8.self)
    } catch {
      return error.message
    }
  }

  @Test func aTextIsReadWithItsMaxAge() async throws {
    try await withWeb { web, port in
      let address = try #require(WebAddress("http://127.0.0.1:\(port)/keys?a=b"))
      web.add(.init(headers: ["Cache-Control": "public, max-age=100", "Age": "30"], body: "hi"))
      let fetcher = WebFetcher()
      #expect(try await fetcher.get(address) == WebText(Array("hi".utf8), maxAgeSeconds: 70))
      #expect(web.asked == ["/keys?a=b"])
      web.add(.init(headers: ["Cache-Control": "no-store, max-age=100"]))
      #expect(try await fetcher.get(address).maxAgeSeconds == 0)
      web.add(.init(body: "x"))
      #expect(try await fetcher.get(address).maxAgeSeconds == nil)
    }
  }

  @Test func otherStatusesAndUnsafeRedirectsAreErrors() async throws {
    try await withWeb { web, port in
      let place = "http://127.0.0.1:\(port)/"
      web.add(.init(status: 404))
      #expect(await message(place) == "\(place) answered with status 404.")
      web.add(.init(status: 302, headers: ["Location": place + "b"]), .init(body: "b"))
      #expect(await message(place) == "read: b")
      web.add(.init(status: 302, headers: ["Location": "http://a.example/"]))
      #expect(await message(place).contains("Use https."))
      for _ in 0..<5 { web.add(.init(status: 302, headers: ["Location": place])) }
      #expect(await message(place).contains("redirects too often"))
    }
    try await withWeb([.init(body: String(repeating: "x", count: WebFetcher.bytesMax + 1))]) {
      _, port in
      #expect(await message("http://127.0.0.1:\(port)/").contains("cannot be read"))
    }
  }

  @Test func aCertificateIsTrustedByTheSystemOrAFile() async throws {
    let files = try certificateFiles()
    try await withWeb([.init(body: "safe"), .init(body: "safe")], tls: files) { _, port in
      let place = "https://localhost:\(port)/"
      let trusting = WebFetcher(trustedFile: files.certificate)
      #expect(await message(place, trusting) == "read: safe")
      #expect(await message("https://127.0.0.1:\(port)/", trusting) == "read: safe")
      #expect(await message(place).contains("cannot be read"))
    }
  }
}
