import RunnelBase
import RunnelTree
import Testing

/// Rows 1 to 23 of sections 6.4 and 6.5, and the confirmed cases after them.
@Suite struct EventRowTests {
  private let list: Query

  init() throws { list = Query(try Path("list")) }

  private func harness(_ list: String) throws -> EngineHarness {
    try EngineHarness(#"{"list":\#(list)}"#)
  }

  private func byScore() throws -> Query { try list.ordered(by: .child(Path("s"))) }

  private static let scored = #"{"a":{"s":1},"b":{"s":2},"c":{"s":3}}"#

  // MARK: 6.4

  @Test func row1SetOfTwoOverNothing() throws {
    var harness = try harness("null")
    let (_, initial) = try harness.listen(list)
    #expect(initial == ["value=null"])
    #expect(
      try harness.set("/list", #"{"a":1,"b":2}"#)
        == ["added a(null)=1", "added b(a)=2", #"value={"a":1,"b":2}"#])
  }

  @Test func row2SetThatRemovesAddsAndChanges() throws {
    var harness = try harness(#"{"a":1,"b":2}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.set("/list", #"{"b":3,"c":4}"#)
        == ["removed a=1", "added c(b)=4", "changed b(null)=3", #"value={"b":3,"c":4}"#])
  }

  @Test func row3UpdateThatRemovesAndChanges() throws {
    var harness = try harness(#"{"a":1,"b":2}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.update("/list", #"{"a":null,"b":9}"#)
        == ["removed a=1", "changed b(null)=9", #"value={"b":9}"#])
  }

  @Test func row4SetOfTheSame() throws {
    var harness = try harness(#"{"a":1,"b":2}"#)
    _ = try harness.listen(list)
    #expect(try harness.set("/list", #"{"a":1,"b":2}"#) == [])
    #expect(try harness.update("/list", #"{"a":1}"#) == [])
    #expect(try harness.update("/list", #"{".priority":null,"a/.priority":null}"#) == [])
  }

  @Test func row5SetOfALeafOverChildren() throws {
    var harness = try harness(#"{"a":1}"#)
    _ = try harness.listen(list)
    #expect(try harness.set("/list", "7") == ["removed a=1", "value=7"])
  }

  @Test func row6UpdateOfALeaf() throws {
    var harness = try harness("7")
    let (_, initial) = try harness.listen(list)
    #expect(initial == ["value=7"])
    #expect(try harness.update("/list", #"{"a":1}"#) == ["added a(null)=1", #"value={"a":1}"#])
  }

  @Test func row7DeleteBelowALeaf() throws {
    var harness = try harness("7")
    _ = try harness.listen(list)
    #expect(try harness.set("/list/x", "null") == [])
    #expect(try harness.set("/list/x/y", "null") == [])
  }

  @Test func row8RemoveOfTheLastChild() throws {
    var harness = try harness(#"{"a":1}"#)
    _ = try harness.listen(list)
    #expect(try harness.set("/list/a", "null") == ["removed a=1", "value=null"])
  }

  @Test func row9ChangeBelowAChild() throws {
    var harness = try harness(#"{"a":{"x":1}}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.set("/list/a/x", "2") == [#"changed a(null)={"x":2}"#, #"value={"a":{"x":2}}"#])
  }

  @Test func row10PriorityThatMovesAChild() throws {
    var harness = try harness(
      #"{"a":{".value":1,".priority":1},"b":{".value":2,".priority":2}}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.update("/list", #"{"a/.priority":3}"#) == [
        #"moved a(b)={".value":1,".priority":3}"#, #"changed a(b)={".value":1,".priority":3}"#,
        #"value={"a":{".value":1,".priority":3},"b":{".value":2,".priority":2}}"#,
      ])
  }

  @Test func row11IndexedChildThatMoves() throws {
    var harness = try harness(EventRowTests.scored)
    _ = try harness.listen(byScore())
    #expect(
      try harness.set("/list/a/s", "4") == [
        #"moved a(c)={"s":4}"#, #"changed a(c)={"s":4}"#,
        #"value={"a":{"s":4},"b":{"s":2},"c":{"s":3}}"#,
      ])
  }

  @Test func row12IndexedChildWithAnUnchangedRank() throws {
    var harness = try harness(EventRowTests.scored)
    _ = try harness.listen(byScore())
    #expect(
      try harness.set("/list/c/s", "9") == [
        #"moved c(b)={"s":9}"#, #"changed c(b)={"s":9}"#,
        #"value={"a":{"s":1},"b":{"s":2},"c":{"s":9}}"#,
      ])
  }

  @Test func row13ChangeThatIsNotIndexed() throws {
    var harness = try harness(EventRowTests.scored)
    _ = try harness.listen(byScore(), events: .children)
    #expect(try harness.set("/list/a/t", "1") == [#"changed a(null)={"s":1,"t":1}"#])
  }

  @Test func row14KeyOrderNeverMoves() throws {
    var harness = try harness(#"{"a":1,"b":2}"#)
    _ = try harness.listen(list.ordered(by: .key))
    #expect(try harness.set("/list/a", "9") == ["changed a(null)=9", #"value={"a":9,"b":2}"#])
    #expect(
      try harness.update("/list", #"{"a/.priority":1}"#) == [
        #"changed a(null)={".value":9,".priority":1}"#,
        #"value={"a":{".value":9,".priority":1},"b":2}"#,
      ])
  }

  @Test func row15PriorityOfThePlace() throws {
    var harness = try harness(#"{"a":1}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.update("/list", #"{".priority":5}"#) == [#"value={"a":1,".priority":5}"#])
    #expect(try harness.update("/list", #"{".priority":5}"#) == [])
  }

  // MARK: 6.5

  private func lastTwo(_ json: String = #"{"a":1,"b":2,"c":3}"#) throws -> EngineHarness {
    var harness = try harness(json)
    let query = try list.ordered(by: .key).limited(to: 2, from: .last)
    let (_, initial) = try harness.listen(query)
    #expect(initial == ["added b(null)=2", "added c(b)=3", #"value={"b":2,"c":3}"#])
    return harness
  }

  @Test func row16AddThatPushesOneOut() throws {
    var harness = try lastTwo()
    #expect(
      try harness.set("/list/d", "4")
        == ["removed b=2", "added d(c)=4", #"value={"c":3,"d":4}"#])
  }

  @Test func row17AddOutside() throws {
    var harness = try lastTwo()
    #expect(try harness.set("/list/aa", "4") == [])
  }

  @Test func row18RemoveThatPullsOneIn() throws {
    var harness = try lastTwo()
    #expect(
      try harness.set("/list/c", "null")
        == ["removed c=3", "added a(null)=1", #"value={"a":1,"b":2}"#])
  }

  @Test func row19ChangeInside() throws {
    var harness = try lastTwo()
    #expect(try harness.set("/list/c", "9") == ["changed c(b)=9", #"value={"b":2,"c":9}"#])
  }

  @Test func row20RemoveOutside() throws {
    var harness = try lastTwo()
    #expect(try harness.set("/list/a", "null") == [])
  }

  private func firstTwoByValue() throws -> EngineHarness {
    var harness = try harness(#"{"a":1,"b":2,"c":3}"#)
    _ = try harness.listen(list.ordered(by: .value).limited(to: 2, from: .first))
    return harness
  }

  @Test func row21ChangeThatLeavesTheWindow() throws {
    var harness = try firstTwoByValue()
    #expect(
      try harness.set("/list/a", "5")
        == ["removed a=1", "added c(b)=3", #"value={"b":2,"c":3}"#])
  }

  @Test func row22ChangeThatStaysInTheWindow() throws {
    var harness = try firstTwoByValue()
    #expect(
      try harness.set("/list/a", "2.5")
        == ["moved a(b)=2.5", "changed a(b)=2.5", #"value={"a":2.5,"b":2}"#])
  }

  @Test func row23UpdateThatWouldPullAFillerInAndOut() throws {
    var harness = try harness(#"{"a":1,"b":2}"#)
    _ = try harness.listen(list.ordered(by: .key).limited(to: 1, from: .first))
    #expect(
      try harness.update("/list", #"{"a":null,"0":"x"}"#)
        == ["removed a=1", #"added 0(null)="x""#, #"value={"0":"x"}"#])
  }

  // MARK: More confirmed cases

  @Test func thePriorityOfALeafSurvivesItsFirstChild() throws {
    var harness = try harness(#"{".value":7,".priority":4}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.set("/list/a", "1") == ["added a(null)=1", #"value={"a":1,".priority":4}"#])
  }

  @Test func aChangeWithinAnIndexedObjectIsNoMove() throws {
    var harness = try harness(#"{"a":{"s":{"k":1}}}"#)
    _ = try harness.listen(byScore(), events: .children)
    #expect(try harness.set("/list/a/s/k", "2") == [#"changed a(null)={"s":{"k":2}}"#])
  }

  @Test func anyChangeMovesInTheOrderByValue() throws {
    var harness = try harness(#"{"a":{"k":1}}"#)
    _ = try harness.listen(list.ordered(by: .value), events: .children)
    #expect(
      try harness.set("/list/a/k", "2") == [#"moved a(null)={"k":2}"#, #"changed a(null)={"k":2}"#])
  }

  @Test func anUpdateBelowOneChildThatRemovesAnother() throws {
    var harness = try harness(#"{"a":1,"b":2,"c":3}"#)
    _ = try harness.listen(list)
    #expect(
      try harness.update("/list", #"{"b/x":1,"c":null}"#)
        == ["removed c=3", #"changed b(a)={"x":1}"#, #"value={"a":1,"b":{"x":1}}"#])
  }

  @Test func aFilteredQueryHasNoPriorityOfItsOwn() throws {
    var harness = try harness(#"{"a":1,"b":2,".priority":5}"#)
    let (_, initial) = try harness.listen(list.limited(to: 1, from: .first))
    #expect(initial == ["added a(null)=1", #"value={"a":1}"#])
    #expect(try harness.update("/list", #"{".priority":6}"#) == [])
    let (_, ordered) = try harness.listen(list.ordered(by: .key))
    #expect(ordered.last == #"value={"a":1,"b":2,".priority":6}"#)
  }

  @Test func aFilteredQueryOverALeafIsEmpty() throws {
    var harness = try harness("7")
    let (_, initial) = try harness.listen(list.limited(to: 1, from: .first))
    #expect(initial == ["value=null"])
    #expect(try harness.set("/list", "8") == [])
  }

  // MARK: 6.2 and 6.3

  @Test func eventsOfOneKindComeInTheOrderOfTheIndex() throws {
    var harness = try harness(#"{"a":{"s":9},"b":{"s":8},"c":{"s":1},"d":{"s":2}}"#)
    _ = try harness.listen(byScore(), events: .children)
    let events = try harness.update(
      "/list", #"{"a":null,"b":null,"c/s":5,"d/s":4,"x":{"s":3},"w":{"s":0}}"#)
    #expect(
      events == [
        #"removed b={"s":8}"#, #"removed a={"s":9}"#,
        #"added w(null)={"s":0}"#, #"added x(w)={"s":3}"#,
        #"moved d(x)={"s":4}"#, #"moved c(d)={"s":5}"#,
        #"changed d(x)={"s":4}"#, #"changed c(d)={"s":5}"#,
      ])
  }

  @Test func aChildReplacedInOneBatchIsChangedNotRemovedAndAdded() throws {
    var harness = try harness(#"{"a":{"x":1}}"#)
    _ = try harness.listen(list, events: .children)
    #expect(try harness.set("/", #"{"list":{"a":"new"}}"#) == [#"changed a(null)="new""#])
  }

  @Test func initialEventsAreTheRowsInOrderThenTheValue() throws {
    var harness = try harness(EventRowTests.scored)
    let (_, initial) = try harness.listen(
      byScore().starting(at: .leaf(.number(2))).limited(to: 5, from: .last))
    #expect(
      initial == [
        #"added b(null)={"s":2}"#, #"added c(b)={"s":3}"#, #"value={"b":{"s":2},"c":{"s":3}}"#,
      ])
  }

  @Test func onlyTheEventsAskedForAreTold() throws {
    var harness = try harness(#"{"a":1}"#)
    #expect(try harness.listen(list, events: .value).1 == [#"value={"a":1}"#])
    #expect(try harness.listen(list, events: [.added, .removed]).1 == ["added a(null)=1"])
    #expect(try harness.listen(list, events: [.changed]).1 == [])
    #expect(
      try harness.update("/list", #"{"a":2,"b":3}"#)
        == ["added b(a)=3", "changed a(null)=2", #"value={"a":2,"b":3}"#])
  }

  @Test func aShallowRowIsToldByItsSize() throws {
    var harness = try harness(#"{"a":{"x":{"y":1},"z":1},"b":5}"#)
    let (_, initial) = try harness.listen(list, detail: .shallow, events: .children)
    #expect(initial == ["added a(null)=<2>", "added b(a)=5"])
    #expect(try harness.set("/list/a/x/y", "2") == [])
    #expect(try harness.set("/list/a/w", "2") == ["changed a(null)=<3>"])
  }
}
