import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree

/// What a change of a live list costs from the tree's event to the painted frame, and a page of it.
///
/// There is no terminal and no database: the events are made before, and a frame is a canvas.
struct LiveListBenchmark {
  /// A list with its rows loaded.
  private final class List {
    let workspace: HeadlessWorkspace
    let listener: ListenerID
    private let index: QueryIndex
    private let start: Int64 = 1_788_000_000_000
    /// The numbers of the rows that are loaded.
    private(set) var numbers: Range<Int>

    init(rowCount: Int) throws {
      workspace = try HeadlessWorkspace(
        views: """
          views:
            - name: Messages
              path: /messages
              anchor: last
              page: 100
              keep: off
              sections: [{ field: kind }]
              columns:
                - { field: at, format: time, width: 5 }
                - { field: from, width: 10 }
                - { field: text }
          """, now: start)
      let place = try Path("/messages")
      let asked = workspace.takeRequests().compactMap { request -> ListenerID? in
        guard case .listen(let listener, let asked) = request, asked.query.path == place,
          asked.paging != nil
        else { return nil }
        return listener
      }
      guard let listener = asked.first else { throw BenchmarkError("The view asks for no rows.") }
      self.listener = listener
      index = .key
      numbers = 0..<rowCount
      let rows = try numbers.map { TreeEvent.childAdded(try row($0), previous: nil) }
      workspace.receive(rows + [.page(hasMore: true)], for: listener)
      workspace.strike("G")
      workspace.paint()
      guard workspace.rowCount == rowCount + 1 else {
        throw BenchmarkError("\(workspace.rowCount) rows are shown of \(rowCount).")
      }
    }

    /// A row.
    ///
    /// Those with greater numbers come later; numbers may be negative.
    private func row(_ number: Int, text: String = "some words of a message") throws -> TreeRow {
      let json: JSONValue = [
        "at": .number(JSONNumber(start + Int64(number))), "from": .string("ana"),
        "kind": .string("kind \((number % 20 + 20) % 20)"),
        "text": .string("\(text) \(number)"),
      ]
      let digits = String(number + 500_000_000)
      return TreeRow(
        RunnelTree.Child(
          key: try Key("m" + String(repeating: "0", count: 12 - digits.count) + digits),
          node: try RunnelTree.Node(json: json)), index: index, detail: .full)
    }

    /// A row arrives at the live end.
    func arrival() throws -> TreeEvent {
      defer { numbers = numbers.lowerBound..<numbers.upperBound + 1 }
      return .childAdded(try row(numbers.upperBound), previous: nil)
    }

    /// A row becomes different.
    func change(_ number: Int, _ round: Int) throws -> TreeEvent {
      .childChanged(try row(number, text: "changed \(round) words"), previous: nil)
    }

    /// A row goes.
    func removal(_ number: Int) throws -> TreeEvent { .childRemoved(try row(number)) }

    /// A page of older rows.
    func page(of count: Int) throws -> [TreeEvent] {
      let first = numbers.lowerBound - count
      defer { numbers = first..<numbers.upperBound }
      return try (first..<numbers.lowerBound).map { .childAdded(try row($0), previous: nil) }
        + [.page(hasMore: true)]
    }

    /// Takes an event over and paints.
    func show(_ events: [TreeEvent]) {
      workspace.receive(events, for: listener)
      workspace.paint()
    }
  }

  /// What a change of a list costs, by what it is.
  private final class Costs {
    private let list: List
    private let rowCount: Int
    private var arrivals = Samples()
    private var changes = Samples()
    private var removals = Samples()
    private var keys = Samples()

    init(rowCount: Int) throws {
      list = try List(rowCount: rowCount)
      self.rowCount = rowCount
    }

    var arrival: Double { arrivals.median }
    var change: Double { changes.median }
    var removal: Double { removals.median }
    var key: Double { keys.median }

    /// Measures one change of each kind, and a key.
    func measure(round: Int) throws {
      let arrival = try list.arrival()
      arrivals.measure { list.show([arrival]) }
      let change = try list.change(rowCount / 2 + round % 10, round)
      changes.measure { list.show([change]) }
      if round < rowCount / 4 {
        let removal = try list.removal(rowCount / 4 + round)
        removals.measure { list.show([removal]) }
      }
      keys.measure {
        list.workspace.strike((round / 40).isMultiple(of: 2) ? "k" : "j")
        list.workspace.paint()
      }
    }
  }

  let isQuick: Bool
  private let roundCount = 300
  private let pageCount = 100

  func run(into report: inout Report) throws {
    let counts = [100, 500, 10_000, 100_000] + (isQuick ? [] : [1_000_000])
    let all = try counts.map { try Costs(rowCount: $0) }
    // The lists take turns, so that a processor that changes its speed does so for all of them.
    for round in 0..<roundCount {
      for costs in all { try costs.measure(round: round) }
    }
    let (few, some) = (all[0], all[1])
    line("a row arrives, 100 rows loaded", few.arrival, few.arrival, .atMost(1), &report)
    for (count, costs) in zip(counts, all).dropFirst(2) {
      let isLargest = count == 1_000_000
      let (baseline, aim) = isLargest ? (few, Report.Aim.atMost(3)) : (some, .atMost(1.5))
      let words = "\(count) rows loaded"
      line("a row arrives, " + words, costs.arrival, baseline.arrival, aim, &report)
      line("  a row in the middle changes", costs.change, baseline.change, aim, &report)
      line("  a row in the middle goes", costs.removal, baseline.removal, aim, &report)
      line("  a key moves the cursor", costs.key, baseline.key, aim, &report)
    }
    try page(&report)
  }

  private func line(
    _ what: String, _ time: Double, _ baseline: Double, _ aim: Report.Aim, _ report: inout Report
  ) {
    report.add(
      what, Format.time(time), baseline: Format.time(baseline) + " at few",
      ratio: time / baseline, aim: aim)
  }

  /// A page of 100 rows to the screen, from the key on.
  private func page(_ report: inout Report) throws {
    let list = try List(rowCount: 10_000)
    var samples = Samples()
    for _ in 0..<pageCount {
      let page = try list.page(of: 100)
      samples.measure {
        list.workspace.strike("g m")
        list.workspace.paint()
        list.show(page)
      }
      guard !list.workspace.takeRequests().isEmpty else {
        throw BenchmarkError("The key fetched no page.")
      }
    }
    report.add(
      "a page of 100 rows to the screen, 10000 loaded", samples.summary, value: samples.median,
      aim: .below(0.001, "1 ms"))
  }
}
