import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Three states of one place, and what becomes of them.
@Suite struct ThreeWayTests {
  private static let values: [JSONValue] = [
    nil, 1, 2, ["a": 1], ["a": 2], ["b": 1], ["a": 1, "b": 1], ["a": 2, "b": 1],
    ["a": ["c": 1], "b": 1],
  ]

  /// Every base, mine and theirs of a few small values.
  private func withEvery(
    _ body: (_ base: JSONValue, _ mine: JSONValue, _ theirs: JSONValue) throws -> Void
  ) rethrows {
    for base in ThreeWayTests.values {
      for mine in ThreeWayTests.values {
        for theirs in ThreeWayTests.values { try body(base, mine, theirs) }
      }
    }
  }

  @Test func whatOneSideChangedNeedsNoChoice() {
    withEvery { base, mine, theirs in
      let model = ThreeWay(base: base, mine: mine, theirs: theirs)
      guard mine == base || theirs == base || mine == theirs else { return }
      #expect(model.undecidedCount == 0, "\(base) \(mine) \(theirs)")
      #expect(model.result == (mine == base ? theirs : mine), "\(base) \(mine) \(theirs)")
    }
  }

  @Test func eachStateIsWhatItsPlacesAre() {
    withEvery { base, mine, theirs in
      let model = ThreeWay(base: base, mine: mine, theirs: theirs)
      #expect(model[.mine] == mine && model[.theirs] == theirs, "\(base) \(mine) \(theirs)")
      #expect(model[.base] == base, "\(base) \(mine) \(theirs)")
    }
  }

  /// What is kept of one key by a rule without rows; nil if somebody has to choose.
  private func merged(_ base: JSONValue, _ mine: JSONValue, _ theirs: JSONValue) -> JSONValue? {
    if mine == base { return theirs }
    if theirs == base || mine == theirs { return mine }
    // JSON has a nil of its own, so that nothing must be spelled out.
    return Optional.none
  }

  @Test func objectsAreMergedKeyByKey() {
    withEvery { base, mine, theirs in
      guard case .object = mine, case .object = theirs, base != 1, base != 2 else { return }
      var model = ThreeWay(base: base, mine: mine, theirs: theirs)
      let keys = ["a", "b"]
      let naive = keys.map { merged(base[$0] ?? .null, mine[$0] ?? .null, theirs[$0] ?? .null) }
      let undecided = naive.count { $0 == nil }
      #expect(model.undecidedCount == undecided, "\(base) \(mine) \(theirs)")
      model.chooseAll(.mine)
      #expect(model.undecidedCount == 0)
      for (key, value) in zip(keys, naive) {
        #expect(
          (model.result[key] ?? .null) == (value ?? mine[key] ?? .null),
          "\(key) of \(base) \(mine) \(theirs)")
      }
    }
  }

  @Test func allOfOneSideIsThatSideWhereBothDiffer() {
    withEvery { base, mine, theirs in
      for side in ThreeWay.Side.allCases {
        var model = ThreeWay(base: base, mine: mine, theirs: theirs)
        for index in model.rows.indices { model.choose(.side(side), at: index) }
        #expect(model.result == model[side])
      }
    }
  }

  @Test func whatIsTypedIsKept() {
    var model = ThreeWay(
      base: ["a": 1, "b": 1], mine: ["a": 2, "b": 1], theirs: ["a": 3, "b": 1])
    #expect(model.undecidedCount == 1)
    model.choose(.typed(["x": true]), at: 0)
    #expect(model.result == ["a": ["x": true], "b": 1])
    model.choose(.typed(nil), at: 0)
    #expect(model.result == ["b": 1])
  }

  @Test func aRecordThatOneSideRemovedIsChosenAsAWhole() {
    let model = ThreeWay(base: ["a": 1, "b": 1], mine: nil, theirs: ["a": 2, "b": 1])
    #expect(model.rows.count == 1)
    #expect(model.rows[0].place.isRoot && model.rows[0].isConflict)
  }

  /// Of a long record, only the beginning is seen.
  @Test func fieldsThatDifferComeFirstInARecordAsAWhole() throws {
    let model = ThreeWay(
      base: ["a": 1, "b": 1, "c": 1], mine: nil, theirs: ["a": 1, "c": 2, "d": 1])
    let row = try #require(model.rows.first)
    #expect(row.shown(.base).jsonText() == #"{"b":1,"c":1,"a":1}"#)
    #expect(row.shown(.theirs).jsonText() == #"{"c":2,"d":1,"a":1}"#)
    #expect(row.shown(.mine) == .null && row[.base].jsonText() == #"{"a":1,"b":1,"c":1}"#)
  }

  @Test func prioritiesAndTheOrderOfNamesDoNotCount() {
    let model = ThreeWay(
      base: ["b": 1, "a": [".value": 1, ".priority": 2]], mine: ["a": 1, "b": 1],
      theirs: ["b": 1, "a": 1])
    let differing = model.rows.filter { !$0.isSame }
    #expect(differing.isEmpty)
  }
}
