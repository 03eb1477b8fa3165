import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct PlainViewTests {
  /// A listing of `/m` that is followed, on a file of its own.
  private final class Listing {
    private let session: DatabaseSession
    private let view: PlainView
    private let file: String

    init(_ rows: PlainRequest.Rows, anchor: String?, keep: Int = 2000, of json: JSONValue) throws {
      let file = NSTemporaryDirectory() + "runnel-plain-\(UUID().uuidString).db"
      self.file = file
      session = try DatabaseSession(
        file: file, isReadOnly: false,
        environment: DatabaseEnvironment(now: { 0 }, random: SeededRandom(seed: 1)))
      _ = try session.write(.set(.root, ["m": json]))
      let line = anchor.map { "anchor: \($0)" } ?? "order: $key"
      let views = try ViewFile(
        yaml: """
          views:
            - name: L
              path: /m
              \(line)
              page: 5
              keep: \(keep)
              columns: [{ field: t }]
          """, name: "test.views.yaml")
      var request = PlainRequest(.jsonLines, rows: rows)
      request.follows = true
      view = try PlainView(views.views[0], request, me: "zoe", local: .utc, clock: { 0 })
      view.start()
      pump()
    }

    deinit {
      // Nothing is lost with a temporary file that cannot be closed.
      try? session.close()
      AppDriver.removeDatabase(file)
    }

    private func pump() {
      while case let requests = view.takeRequests(), !requests.isEmpty {
        for request in requests { view.receive(session.answer(request)) }
      }
    }

    func write(_ write: Write) throws {
      view.receive([.deliveries(try session.write(write))])
      pump()
    }

    /// The lines since the last call: the keys by what happened to them; "" for the first listing.
    func told() throws -> [String: [String]] {
      var told: [String: [String]] = [:]
      for line in view.takeLines() {
        let json = try JSONValue(parsing: line)
        told[json["$change"]?.string ?? "", default: []].append(json["$key"]?.string ?? "")
      }
      return told
    }
  }

  private func rows(_ numbers: ClosedRange<Int>) -> [JSONMember] {
    numbers.map { JSONMember("k\($0)", ["t": .number(JSONNumber(Int64($0)))]) }
  }

  private func keys(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "k\($0)" } }

  @Test(arguments: [nil, "last"] as [String?])
  func largeWriteIsToldInFullAndRemovesNoRowThatStands(anchor: String?) throws {
    for rows in [PlainRequest.Rows.all, .page] {
      let listing = try Listing(rows, anchor: anchor, of: .object(self.rows(101...102)))
      #expect(try listing.told() == ["": keys(101...102)])
      // All children are touched at once, as by the write of another process that has many.
      try listing.write(.set(try Path("/m"), .object(self.rows(101...140))))
      #expect(try listing.told() == ["added": keys(103...140)], "\(rows)")
      try listing.write(.set(try Path("/m/k120/t"), 7))
      #expect(try listing.told() == ["changed": ["k120"]], "\(rows)")
      try listing.write(.set(try Path("/m"), .object(self.rows(110...140))))
      let told = try listing.told()
      #expect(told == ["removed": keys(101...109), "changed": ["k120"]], "\(rows)")
    }
  }

  @Test(arguments: [nil, "last"] as [String?])
  func everyRowOfALongListIsFollowedOnRequest(anchor: String?) throws {
    let listing = try Listing(.all, anchor: anchor, of: .object(rows(101...140)))
    #expect(try listing.told() == ["": keys(101...140)])
    try listing.write(.set(try Path("/m/k101/t"), 7))
    try listing.write(.set(try Path("/m/k999/t"), 7))
    #expect(try listing.told() == ["changed": ["k101"], "added": ["k999"]])
    try listing.write(.set(try Path("/m"), .object(rows(101...150))))
    let told = try listing.told()
    #expect(told == ["removed": ["k999"], "added": keys(141...150), "changed": ["k101"]])
  }

  @Test func logIsFollowedWithTheRowsThatItsViewKeeps() throws {
    let listing = try Listing(.page, anchor: "last", keep: 10, of: .object(rows(101...102)))
    _ = try listing.told()
    for number in 103...160 {
      try listing.write(.set(try Path("/m/k\(number)/t"), 1))
      #expect(try listing.told() == ["added": ["k\(number)"]])
    }
    try listing.write(.set(try Path("/m/k103/t"), 7))
    #expect(try listing.told() == [:], "It was unloaded long ago.")
    try listing.write(.set(try Path("/m/k155/t"), 7))
    try listing.write(.set(try Path("/m/k156"), .null))
    #expect(try listing.told() == ["changed": ["k155"], "removed": ["k156"]])
  }
}
