import RunnelBase
import Testing

@Suite struct JSONPrefixTests {
  /// True if a document may begin with these bytes, which arrive in pieces of a size.
  private func accepts(
    _ bytes: [UInt8], inPiecesOf size: Int = 7, tokenBytesMax: Int = JSONPrefix.tokenBytesMax
  ) -> Bool {
    var prefix = JSONPrefix(tokenBytesMax: tokenBytesMax)
    return stride(from: 0, to: bytes.count, by: size).allSatisfy {
      prefix.accepts(bytes[$0..<min($0 + size, bytes.count)])
    }
  }

  @Test(arguments: [
    "{}", " [1, -2.5e+3, true, null, \"a\\\"\\u00e9\"] \n", "\"text\"", "12", "{\"a\": {\"b\": [",
    "{\"a\": \"unfinished", "", "  ",
  ])
  func beginningsOfDocumentsPassInPiecesOfAnySize(text: String) {
    for size in 1...max(text.utf8.count, 1) {
      #expect(accepts(Array(text.utf8), inPiecesOf: size))
    }
  }

  @Test(arguments: [
    "\0", "y\n", "1\n1", "{} {", "]", "{\"a\0", "{\"a\n", "[\"\\x", "a.json", "\u{1B}", "\"a\" ,",
  ])
  func whatNoDocumentGoesOnFromIsFound(text: String) {
    #expect(!accepts(Array(text.utf8)))
  }

  @Test(arguments: ["\"aaaaa", "123456", "[[], \"aaaaa"])
  func aTextOrNumberWithoutAnEndIsFound(text: String) {
    #expect(accepts(Array(text.utf8), tokenBytesMax: 6))
    #expect(!accepts(Array(text.utf8), tokenBytesMax: 5))
  }

  @Test func nestingWithoutAnEndIsFound() {
    let open = [UInt8](repeating: UInt8(ascii: "["), count: JSONScanner.depthMax)
    #expect(accepts(open))
    #expect(!accepts(open + open.prefix(1)))
  }
}
