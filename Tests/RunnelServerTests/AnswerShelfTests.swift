import RunnelBase
@testable import RunnelServer
@testable import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// What is kept of a place is what would be computed there now.
@Suite struct AnswerShelfTests {
  private static let paths = ["/", "/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f"]

  private func push(_ node: Node, at path: Path) -> EncodedPush {
    EncodedPush(.put(path, .node(node)))
  }

  @Test(arguments: Seeds.first(50))
  func whatIsKeptIsWhatTheTreeHolds(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var root = Node.empty
    var shelf = AnswerShelf()
    var begun: [(path: Path, ticket: Int, node: Node)] = []
    for step in 0..<300 {
      let path = try Path(#require(Self.paths.randomElement(using: &random)))
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let number = JSONNumber(Int64.random(in: 0..<3, using: &random))
        root = root.replacing(path, with: Node(.number(number)))
        shelf.forget(around: path)
      case 2: shelf.keep(hash: root[path].contentHash, of: path)
      case 3: begun.append((path, shelf.begin(path), root[path]))
      case 4:
        guard !begun.isEmpty else { continue }
        let (path, ticket, node) = begun.removeFirst()
        shelf.keep(
          hash: node.contentHash, push: push(node, at: path), of: path, ticket: ticket)
      default: if step % 50 == 0 { shelf.forgetPushes() }
      }
      for text in Self.paths {
        let path = try Path(text)
        if let hash = shelf.hash(of: path) {
          try #require(hash == root[path].contentHash, "seed \(seed), step \(step)")
        }
        if let found = shelf.push(of: path) {
          try #require(found == push(root[path], at: path), "seed \(seed), step \(step)")
        }
      }
    }
  }

  @Test func onlyWhatAWriteMayHaveChangedIsForgotten() throws {
    var shelf = AnswerShelf()
    for text in Self.paths { shelf.keep(hash: text, of: try Path(text)) }
    shelf.forget(around: try Path("/a/b"))
    let kept = try Self.paths.filter { shelf.hash(of: try Path($0)) != nil }
    #expect(kept == ["/a/d", "/e", "/e/f"])
    #expect(shelf.count == 3)
    shelf.forgetAll()
    #expect(shelf.count == 0)
    #expect(shelf.bytes == 0)
  }

  @Test func resultOfAComputationThatAWriteOvertookIsNotKept() throws {
    var shelf = AnswerShelf()
    let path = try Path("/a")
    let (first, second) = (shelf.begin(path), shelf.begin(path))
    shelf.keep(hash: "old", push: nil, of: path, ticket: first)
    #expect(shelf.hash(of: path) == nil)
    shelf.keep(hash: "new", push: nil, of: path, ticket: second)
    #expect(shelf.hash(of: path) == "new")
    let third = shelf.begin(path)
    shelf.forget(around: try Path("/a/b"))
    shelf.keep(hash: "old", push: nil, of: path, ticket: third)
    #expect(shelf.hash(of: path) == nil)
    let fourth = shelf.begin(path)
    shelf.forgetAll()
    _ = shelf.begin(path)
    shelf.keep(hash: "old", push: nil, of: path, ticket: fourth)
    #expect(shelf.hash(of: path) == nil)
  }

  @Test func placesAndBytesAreBounded() throws {
    var shelf = AnswerShelf()
    for number in 0..<3000 { shelf.keep(hash: "x", of: try Path("/p\(number)")) }
    #expect(shelf.count == AnswerShelf.countMax)
    #expect(shelf.hash(of: try Path("/p2999")) == "x")
    #expect(shelf.hash(of: try Path("/p0")) == nil)
    let text = String(repeating: "x", count: AnswerShelf.bytesMax / 3)
    for number in 0..<5 {
      let path = try Path("/big\(number)")
      let ticket = shelf.begin(path)
      shelf.keep(
        hash: "x", push: push(Node(.string(text)), at: path).withoutChange(), of: path,
        ticket: ticket)
      #expect(shelf.bytes <= AnswerShelf.bytesMax)
    }
    #expect(shelf.push(of: try Path("/big4")) != nil)
    #expect(shelf.push(of: try Path("/big1")) == nil)
    shelf.forgetPushes()
    #expect(shelf.push(of: try Path("/big4")) == nil)
    #expect(shelf.hash(of: try Path("/big4")) == "x")
  }
}
