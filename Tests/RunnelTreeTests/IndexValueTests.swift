import RunnelBase
import RunnelTree
import Testing

@Suite struct IndexValueTests {
  @Test func valuesAreOrderedByKindThenByValue() throws {
    let sorted = try [
      "null", "false", "true", "-9223372036854775808", "-1.5", "0", "0.5", "1",
      "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "1e300",
      #""""#, #""A""#, #""a""#, #""aa""#, #""\uD7FF""#, #""\uD83D\uDE00""#, #""\uFFFD""#,
      #"{"a":1}"#,
    ].map { IndexValue(try node($0)) }
    for (left, right) in zip(sorted, sorted.dropFirst()) {
      #expect(left < right, "\(left) before \(right)")
      #expect(!(right < left))
    }
    var random = SeededRandom(seed: 1)
    #expect(sorted.shuffled(using: &random).sorted() == sorted)
  }

  @Test func twoNodesWithChildrenAreEqualAndTheTieGoesToTheKey() throws {
    #expect(try IndexValue(node(#"{"a":1}"#)) == IndexValue(node(#"{"b":2}"#)))
    let first = IndexPosition(value: .children, key: .key(try Key("2")))
    let second = IndexPosition(value: .children, key: .key(try Key("10")))
    #expect(first < second)
  }

  @Test func theEndsAreAroundAllKeysOfAValue() throws {
    let value = IndexValue.leaf(.number(5))
    let key = IndexPosition(value: value, key: .key(try Key("-2147483648")))
    #expect(IndexPosition(value: value, key: .minimum) < key)
    #expect(key < IndexPosition(value: value, key: .maximum))
    #expect(
      IndexPosition(value: value, key: .maximum)
        < IndexPosition(value: .leaf(.number(6)), key: .minimum))
  }

  @Test func leavesAreComparedWithoutTheirPriority() throws {
    #expect(try IndexValue(node(#"{".value":1,".priority":2}"#)) == IndexValue(node("1")))
  }

  @Test func eachIndexComparesItsPartOfTheNode() throws {
    let node = try node(#"{"s":{"k":3},"t":1,".priority":"p"}"#)
    #expect(QueryIndex.priority.value(of: node) == .leaf(.string("p")))
    #expect(QueryIndex.key.value(of: node) == .null)
    #expect(QueryIndex.value.value(of: node) == .children)
    #expect(try QueryIndex.child(Path("t")).value(of: node) == .leaf(.number(1)))
    #expect(try QueryIndex.child(Path("s")).value(of: node) == .children)
    #expect(try QueryIndex.child(Path("s/k")).value(of: node) == .leaf(.number(3)))
    #expect(try QueryIndex.child(Path("t/k")).value(of: node) == .null)
    #expect(try QueryIndex.child(Path("x")).value(of: node) == .null)
  }
}
