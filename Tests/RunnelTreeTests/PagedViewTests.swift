import RunnelBase
import RunnelTree
import Testing

@Suite struct PagedViewTests {
  /// A list of `k00`, `k01` and so on, whose values, the order, come in runs of three.
  private func harness(_ count: Int) throws -> EngineHarness {
    let members = (0..<count).map { #""k\#($0 < 10 ? "0" : "")\#($0)":\#($0 / 3)"# }
    return try EngineHarness(#"{"l":{\#(members.joined(separator: ","))}}"#)
  }

  private func byValue() throws -> Query { try Query(Path("l")).ordered(by: .value) }

  /// The keys of added rows, in the order told.
  private func added(_ events: [String]) -> [String] {
    events.filter { $0.hasPrefix("added ") }.map { String($0.dropFirst(6).prefix(3)) }
  }

  @Test(arguments: [Query.Side.first, .last], 1..<8)
  func pagesAreContiguousAndNoRowComesTwice(anchor: Query.Side, count: Int) throws {
    var harness = try harness(20)
    var (listener, events) = try harness.listen(
      byValue(), paging: Paging(anchor: anchor, count: count), events: .children)
    var rows = added(events)
    var pages = 1
    while events.last == "page more" {
      #expect(added(events).count == count)
      events = try harness.extend(listener, by: count)
      rows = anchor == .last ? added(events) + rows : rows + added(events)
      pages += 1
      try #require(pages < 30)
    }
    #expect(events.last == "page end")
    #expect(rows == (0..<20).map { "k\($0 < 10 ? "0" : "")\($0)" })
    #expect(try harness.extend(listener, by: count) == ["page end"])
  }

  @Test func aPageSaysWhatComesBeforeEachOfItsRows() throws {
    var harness = try harness(6)
    let (listener, initial) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 2), events: .children)
    #expect(initial == ["added k04(null)=1", "added k05(k04)=1", "page more"])
    #expect(
      try harness.extend(listener, by: 3) == [
        "added k01(null)=0", "added k02(k01)=0", "added k03(k02)=1", "page more",
      ])
    #expect(try harness.extend(listener, by: 3) == ["added k00(null)=0", "page end"])
  }

  @Test func aListThatFitsInOnePageHasNoMore() throws {
    var harness = try harness(3)
    let (_, events) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 3), events: .children)
    #expect(events.last == "page end")
    let (_, empty) = try harness.listen(
      Query(Path("none")), paging: Paging(anchor: .last, count: 3), events: .children)
    #expect(empty == ["page end"])
  }

  @Test func rowsBeyondTheFrontierAreNotToldAndThoseInsideAre() throws {
    var harness = try harness(9)
    let (listener, _) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 4), events: .children)
    // The window is k05...k08; k05 has the value 1, and so have k03 and k04 beyond it.
    #expect(try harness.set("/l/k04x", "1") == [])
    #expect(try harness.set("/l/k05x", "1") == ["added k05x(k05)=1"])
    #expect(try harness.set("/l/k09", "99") == ["added k09(k08)=99"])
    #expect(try harness.set("/l/k00", "50") == ["added k00(k08)=50"])
    #expect(try harness.set("/l/k08", "0") == ["removed k08=2"])
    let more = try harness.extend(listener, by: 20)
    #expect(added(more) == ["k01", "k02", "k08", "k03", "k04", "k04"])
    #expect(more.last == "page end")
  }

  @Test func everythingLoadedTakesInRowsAtBothEnds() throws {
    var harness = try harness(3)
    _ = try harness.listen(byValue(), paging: Paging(anchor: .last, count: 5), events: .children)
    #expect(try harness.set("/l/z", "-1") == ["added z(null)=-1"])
    #expect(try harness.set("/l/y", "9") == ["added y(k02)=9"])
    #expect(try harness.set("/l/x", "9") == ["added x(k02)=9"])
    #expect(try harness.set("/l/w", "-2") == ["added w(null)=-2"])
  }

  @Test(arguments: [Query.Side.first, .last])
  func aWindowWhoseRowsAllWentShowsTheNextPageAndCanBeExtended(anchor: Query.Side) throws {
    var harness = try harness(9)
    let (listener, _) = try harness.listen(
      byValue(), paging: Paging(anchor: anchor, count: 2), events: .children)
    let isFirst = anchor == .first
    let told = try harness.update(
      "/l", isFirst ? #"{"k00":null,"k01":null}"# : #"{"k07":null,"k08":null}"#)
    #expect(told.count(where: { $0.hasPrefix("removed ") }) == 2)
    #expect(added(told) == (isFirst ? ["k02", "k03"] : ["k05", "k06"]))
    #expect(told.last == "page more")
    #expect(
      try added(harness.extend(listener, by: 2)) == (isFirst ? ["k04", "k05"] : ["k03", "k04"]))
    // One row that stays keeps the frontier where it is.
    let rest =
      isFirst ? #"{"k02":null,"k03":null,"k04":null}"# : #"{"k04":null,"k05":null,"k06":null}"#
    #expect(try added(harness.update("/l", rest)).isEmpty)
  }

  @Test func aWindowWhoseRowsAllWentOneByOneShowsWhatIsLeftAndThenThatNothingIs() throws {
    var harness = try harness(3)
    _ = try harness.listen(byValue(), paging: Paging(anchor: .last, count: 1), events: .children)
    #expect(
      try harness.set("/l/k02", "null") == ["removed k02=0", "added k01(null)=0", "page more"])
    #expect(
      try harness.set("/l/k01", "null") == ["removed k01=0", "added k00(null)=0", "page end"])
    #expect(try harness.set("/l/k00", "null") == ["removed k00=0"])
    #expect(try harness.set("/l/k05", "1") == ["added k05(null)=1"])
  }

  @Test func rowsBeyondThatAllWentAreFoundGoneByTheNextExtension() throws {
    var harness = try harness(4)
    let (listener, events) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 2), events: .children)
    #expect(events.last == "page more")
    #expect(try harness.update("/l", #"{"k00":null,"k01":null}"#) == [])
    #expect(try harness.extend(listener, by: 2) == ["page end"])
  }

  @Test func aWriteOfTheWholePlaceKeepsTheFrontier() throws {
    var harness = try harness(6)
    let (listener, _) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 3), events: .children)
    // The window is k03...k05. The frontier is k03's place, whether or not k03 is there.
    #expect(
      try harness.set("/l", #"{"k00":0,"k01":0,"k04":1,"k05":2,"k06":3}"#) == [
        "removed k03=1", "added k06(k05)=3", "moved k05(k04)=2", "changed k05(k04)=2",
      ])
    #expect(try added(harness.extend(listener, by: 9)) == ["k00", "k01"])
  }

  @Test func aWriteOfTheWholePlaceTellsThatNothingIsBeyondAnyMore() throws {
    var harness = try harness(6)
    _ = try harness.listen(byValue(), paging: Paging(anchor: .last, count: 3), events: .children)
    #expect(
      try harness.set("/l", #"{"k03":1,"k04":1,"k05":1}"#) == ["page end"])
    #expect(try harness.set("/l/a", "0") == ["added a(null)=0"])
  }

  @Test func aWriteOfTheWholePlaceFillsTheFirstPageAgain() throws {
    var harness = try harness(2)
    _ = try harness.listen(byValue(), paging: Paging(anchor: .last, count: 3), events: .children)
    let members = (0..<9).map { #""n\#($0)":\#($0)"# }.joined(separator: ",")
    #expect(
      try harness.set("/l", "{\(members)}") == [
        "removed k00=0", "removed k01=0", "added n6(null)=6", "added n7(n6)=7", "added n8(n7)=8",
        "page more",
      ])
  }

  @Test(arguments: [0, -1, Int.min])
  func anExtensionByNothingGainsNothing(count: Int) throws {
    var harness = try harness(6)
    let (listener, _) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 3), events: .children)
    #expect(try harness.extend(listener, by: count) == ["page more"])
    #expect(try added(harness.extend(listener, by: 2)) == ["k01", "k02"])
  }

  @Test func anExtensionByTheGreatestNumberLoadsAll() throws {
    var harness = try harness(6)
    let (listener, _) = try harness.listen(
      byValue(), paging: Paging(anchor: .first, count: 3), events: .children)
    #expect(try harness.extend(listener, by: .max).count == 4)
    let (_, all) = try harness.listen(
      byValue(), paging: Paging(anchor: .first, count: .max), events: .children)
    #expect(all.count == 7)
  }

  @Test func aPagedRangeStaysWithinItsBounds() throws {
    var harness = try harness(12)
    let query = try byValue().starting(at: .leaf(.number(1))).ending(at: .leaf(.number(2)))
    let (listener, initial) = try harness.listen(
      query, paging: Paging(anchor: .last, count: 2), events: .children)
    #expect(added(initial) == ["k07", "k08"])
    #expect(try added(harness.extend(listener, by: 9)) == ["k03", "k04", "k05", "k06"])
    #expect(try harness.set("/l/k11", "1") == ["added k11(k05)=1"])
    #expect(try harness.set("/l/k11", "5") == ["removed k11=1"])
  }

  @Test func anExtensionTellsTheNewValueAndAChangeBeyondTheFrontierDoesNot() throws {
    var harness = try harness(4)
    let (listener, initial) = try harness.listen(
      byValue(), paging: Paging(anchor: .last, count: 2), events: .value)
    #expect(initial == [#"value={"k02":0,"k03":1}"#, "page more"])
    #expect(
      try harness.extend(listener, by: 1) == [#"value={"k01":0,"k02":0,"k03":1}"#, "page more"])
    #expect(try harness.set("/l", #"{"k01":0,"k02":0,"k03":1}"#) == ["page end"])
  }

  @Test func onlyAPagedListenerIsExtended() throws {
    var harness = try harness(6)
    let (plain, _) = try harness.listen(byValue())
    for listener in [plain, ListenerID(99)] {
      let error = #expect(throws: TreeError.self) { try harness.extend(listener, by: 1) }
      #expect(error?.code == .unknownListener)
    }
  }

  @Test func twoPagedListenersOfOneQueryHaveWindowsOfTheirOwn() throws {
    var harness = try harness(9)
    let paging = Paging(anchor: .last, count: 2)
    let (first, _) = try harness.listen(byValue(), paging: paging, events: .children)
    let (second, _) = try harness.listen(byValue(), paging: paging, events: .children)
    #expect(try added(harness.extend(first, by: 2)) == ["k05", "k06"])
    let told = try harness.deliveries(.set(Path("l/k06"), 7)).map(\.listener)
    #expect(told == [first, first, second])
    harness.engine.unlisten(first)
    #expect(try added(harness.extend(second, by: 1)).count == 1)
  }
}
