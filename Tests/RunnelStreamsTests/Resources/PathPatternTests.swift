import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct PathPatternTests {
  @Test(arguments: [
    ("/group/@", "/group/@"), ("group/@", "/group/@"), ("@", "/@"), ("/@/x/$a/@", "/@/x/$a/@"),
    ("/$a/$a", "/$a/$a"), ("/x", "/x"), ("/a@b/@", "/a@b/@"),
  ])
  func aPatternIsWrittenAsItWasRead(text: String, written: String) throws {
    #expect(try PathPattern(text).description == written)
    #expect(try PathPattern(written) == PathPattern(text))
  }

  @Test(arguments: [
    ("", "it is empty"), ("/", "piece 1"), ("/a//@", "piece 2"), ("/a/", "piece 2"),
    ("/@@", "piece 1 (`@@`): `@` stands alone"), ("/a/@x", "piece 2"), ("/a/$", "piece 2"),
    ("/a.b/@", "piece 1"), ("/a/$b#", "piece 2"),
    (String(repeating: "/a", count: 33), "33 levels: 32"),
  ])
  func aWrongPatternIsToldByItsPiece(text: String, words: String) throws {
    let error = try resourceError { _ = try PathPattern(text) }
    #expect(error.code == .invalidPattern)
    #expect(error.pattern == text)
    #expect(error.message.contains(words))
    #expect(error.message.hasSuffix(".") && !error.message.hasSuffix(".."))
  }

  /// All patterns of up to three pieces out of one literal, two names and the key: every place that
  /// one makes is read back as what it was made from.
  @Test func everyPlaceIsReadBackAsWhatItWasMadeFrom() throws {
    let pieces = ["x", "$a", "$b", "@"]
    let key = try Key("k")
    let names = ["a": try Key("1"), "b": try Key("2")]
    var count = 0
    for text in texts(of: pieces, upTo: 3) {
      let pattern = try PathPattern(text)
      let path = try pattern.path(key: key, names: names)
      let match = try #require(pattern.match(path), "\(text)")
      let expected = pattern.hasKey ? key : path.lastKey
      #expect(match.key == expected, "\(text)")
      #expect(match.names == names.filter { pattern.names.contains($0.key) }, "\(text)")
      #expect(try pattern.collection(names: names).contains(path), "\(text)")
      count += 1
    }
    #expect(count == 4 + 16 + 64)
  }

  /// Two patterns overlap exactly if a path of one can be a path of the other, or above or below it.
  @Test func patternsOverlapExactlyIfTheirPlacesCan() throws {
    let keys = [try Key("x"), try Key("y")]
    let all = try texts(of: ["x", "y", "$a", "@"], upTo: 2).map { try PathPattern($0) }
    for one in all {
      for other in all {
        let mayMeet = places(of: one, keys).contains { place in
          places(of: other, keys).contains { $0.contains(place) || place.contains($0) }
        }
        #expect(one.overlaps(other) == mayMeet, "\(one) \(other)")
      }
    }
  }

  /// Pieces that are free take each of the keys, and are not bound together.
  private func places(of pattern: PathPattern, _ keys: [Key]) -> [Path] {
    pattern.pieces.reduce([[Key]]([[]])) { paths, piece in
      paths.flatMap { path -> [[Key]] in
        if case .literal(let key) = piece { return [path + [key]] }
        return keys.map { path + [$0] }
      }
    }.map { Path(unchecked: $0) }
  }

  private func texts(of pieces: [String], upTo depth: Int) -> [String] {
    var all: [String] = []
    var level = [""]
    for _ in 0..<depth {
      level = level.flatMap { text in pieces.map { text + "/" + $0 } }
      all += level
    }
    return all
  }

  @Test func oneKeyStandsForEveryMark() throws {
    let pattern = try PathPattern("/a/@/b/@")
    let path = try pattern.path(key: Key("k"), names: [:])
    #expect(path.description == "/a/k/b/k")
    #expect(pattern.match(try Path("/a/k/b/other")) == nil)
  }

  @Test func theCollectionIsAboveTheFirstMarkWhereverThatIs() throws {
    let names = ["user": try Key("zoe")]
    #expect(try PathPattern("/like/@/$user").collection(names: [:]).description == "/like")
    #expect(try PathPattern("/like/$user/@").collection(names: names).description == "/like/zoe")
    #expect(try PathPattern("/like/$user").collection(names: [:]).description == "/like")
  }

  @Test func aNameThatStandsForNothingIsNamed() throws {
    let error = try resourceError {
      _ = try PathPattern("/group_message/$group/@").path(key: Key("k"), names: [:])
    }
    #expect(error.code == .missingName)
    #expect(error.missing == "group")
    #expect(error.pattern == "/group_message/$group/@")
  }
}
