import RunnelBase
import RunnelStreams
import Testing

/// The replay oracle over lists of several parts that are held and released.
@Suite struct ListPartRandomTests {
  /// Two partitions and a plain stream in one list, with every kind of placeholder.
  private final class Board {
    let sources = (0..<3).map { _ in TransientStream<TestRow>(order: TestRow.byValue) }
    let days: PartitionedStream<TestRow, Int>
    let words: PartitionedStream<TestRow, String>
    let pages = TransientStream<TestRow>()
    var states: [FetchState] = [.more, .more]
    private(set) var shown: [SectionIDs] = []
    private(set) var labels: [String: SectionLabels] = [:]
    private(set) var mistakes: [String] = []
    private(set) var adapter: IndexPathAdapter<TestRow>?

    init(touchedRowsMax: Int) {
      days = PartitionedStream(sources[0], sectionID: { "day\($0)" }, partition: { $0.value % 3 })
      words = PartitionedStream(sources[1], fixed: [""], sectionID: { $0 }, partition: \.word)
      let pagings = [ListEnd.start, .end].enumerated().map { index, end in
        PagingPoint(
          pages, id: "more\(index)", end: end, state: { [unowned self] in states[index] },
          boundaryID: { [unowned self] in
            let items = sources[0].items
            return end == .start ? items.first?.id : items.last?.id
          })
      }
      let parts = [
        ListPart(days, idPrefix: "a/", pagings: pagings, placeholders: [.empty, .status]) {
          SectionLabels(header: "\($0.items.count)")
        },
        ListPart(words, idPrefix: "b/", placeholders: [.empty]),
        ListPart(sources[2], idPrefix: "c/"),
      ]
      let adapter = IndexPathAdapter(
        parts, sectionOffset: 1, touchedRowsMax: touchedRowsMax,
        log: { [unowned self] in
          if !$0.hasPrefix("A change of") { mistakes.append($0) }
        }, receive: { [unowned self] in take($0) })
      self.adapter = adapter
      adapter.start()
    }

    private func take(_ update: ListUpdate<TestRow>) {
      let other = [SectionIDs(id: "other", rowIDs: ["x"])]
      let (old, new) = (other + shown, other + update.sectionIDs)
      if let mistake = update.update.mistake(from: old, to: new) { mistakes.append(mistake) }
      if update.update.isReload { labels = [:] }
      for index in update.update.reloadedSections { labels[old[index].id] = nil }
      for section in update.sections where labels[section.id] == nil {
        labels[section.id] = section.labels
      }
      for section in update.sections where labels[section.id] != section.labels {
        mistakes.append("The header of \(section.id) is an old one.")
      }
      let ids = Set(update.sections.map(\.id))
      labels = labels.filter { ids.contains($0.key) }
      for placed in update.placeholders {
        let path = ListIndexPath(section: placed.path.section - 1, row: placed.path.row)
        if update.sectionIDs[path.section].rowIDs[path.row] != placed.row.id {
          mistakes.append("\(placed.row.id) is not at \(placed.path).")
        }
      }
      shown = update.sectionIDs
    }

    func act(_ random: inout SeededRandom) {
      let source = sources[Int.random(in: 0..<3, using: &random)]
      let key = "k\(Int.random(in: 0..<9, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        let word = ["", "w", "v"][Int.random(in: 0..<3, using: &random)]
        source.put(TestRow(key, Int.random(in: 0..<7, using: &random), word))
      case 4, 5: source.remove(key)
      case 6: source.reset()
      case 7:
        let choices: [FetchState] = [.unknown, .more, .fetching, .failed("no"), .exhausted]
        states[Int.random(in: 0..<2, using: &random)] =
          choices[Int.random(in: 0..<5, using: &random)]
        pages.put(TestRow(key, Int.random(in: 0..<1000, using: &random)))
      case 8: adapter?.hold()
      default: adapter?.release()
      }
    }
  }

  @Test func updatesReplayWhateverIsHeld() throws {
    for seed in 0..<80 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let board = Board(touchedRowsMax: seed % 4 == 0 ? 3 : 5000)
      for _ in 0..<60 { board.act(&random) }
      board.adapter?.release()
      #expect(board.mistakes == [], "seed \(seed)")
      let rows = board.shown.flatMap(\.rowIDs).filter { $0.dropFirst().hasPrefix("/k") }
      let days = board.days.sections.flatMap(\.items).map { "a/\($0.id)" }
      let words = board.words.sections.flatMap(\.items).map { "b/\($0.id)" }
      #expect(rows == days + words + board.sources[2].items.map { "c/\($0.id)" }, "seed \(seed)")
      let homes = board.shown.map { $0.rowIDs.filter { $0.hasPrefix("a/more") } }
      #expect(homes.flatMap(\.self).count <= 2, "seed \(seed)")
    }
  }
}
