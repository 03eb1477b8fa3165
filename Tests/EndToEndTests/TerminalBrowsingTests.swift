import Testing

extension TerminalTests {
  @Suite struct BrowsingTests {
    @Test func firstScreenShowsTheNewestMessage() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      // A frame may be seen halfway: each of its ends is waited for.
      try terminal.wait(for: "57 of 2400 rows")
      let screen = try terminal.wait(for: "row 57 of 57")
      #expect(screen.lines[0].contains("runnel  test ▸ \(DemoDatabase.messages)"))
      #expect(screen.lines[0].hasSuffix("● live  zoe"))
      #expect(screen.lines[1].hasPrefix(" 1 Messages  2 Roster  3 Groups  4 Activity  5 Tree"))
      #expect(screen.lines[1].hasSuffix("57 of 2400 rows"))
      #expect(screen.body.first == "▾ Sun 30 Aug 2026" + blanks(61) + "44")
      let newest = try #require(try demo.newestTexts(1).last)
      #expect(screen.body.last == screen.cursorLine.map { ">" + $0 })
      #expect(screen.cursorLine?.contains(newest.prefix(40)) == true)
      #expect(screen.body.count == 18)
      #expect(
        screen.lines[22]
          == " Enter open  e edit  a add  T like  d delete  Space mark  f filter  ? help")
    }

    @Test func wholeHistoryIsPagedWithNoRowMissingAndNoneTwice() throws {
      let demo = try DemoDatabase()
      let views = try demo.write(views: viewsOfKeys)
      let terminal = try TmuxTerminal(columns: 80, rows: 100)
      try terminal.runnel(["-d", demo.file, "--views", views])
      var screen = try terminal.wait(for: "of 2400 rows")
      try terminal.keys("gg")
      while screen.contains("of 2400 rows") {
        let before = screen.lines[1]
        try terminal.keys("gm")
        screen = try terminal.wait("another page") { $0.lines[1] != before }
      }
      #expect(screen.lines[1].hasSuffix("2400 rows"))
      #expect(screen.contains("── start ──"))
      let pinned = try demo.pinnedMessageKeys()
      let others = try demo.messageKeys().filter { !pinned.contains($0) }
      #expect(pinned.count + others.count == 2400)
      try expectRows(pinned + others, terminal)
      try terminal.keys("gm")
      try terminal.wait(for: "everything is loaded")
    }

    @Test func pageAppearsAboveTheCursor() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("[[", "[[", "zt", "j")
      let paging = "⋯ older rows not loaded - Enter fetches 50"
      let before = try terminal.wait("the fetch-more row under the cursor") {
        $0.cursorLine?.contains(paging) == true
      }
      let line = try #require(before.line(of: "21:16 haruto"))
      try terminal.keys("Enter")
      let after = try terminal.wait(for: "106 of 2400 rows")
      #expect(after.line(of: "21:16 haruto") == line)
      try terminal.keys("h", "j")
      try terminal.wait("the fetch-more row at the new end") {
        $0.cursorLine?.contains(paging) == true && $0.contains("54 loaded")
      }
    }

    @Test func keysJumpFromSectionToSection() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      let days = ["Sun 30 Aug 2026", "Sat 29 Aug 2026", "Pinned"]
      for day in days {
        try terminal.keys("[[")
        try terminal.wait("the header of \(day)") {
          $0.cursorLine?.hasPrefix("▾ \(day)") == true
        }
      }
      for day in days.dropLast().reversed() {
        try terminal.keys("]]")
        try terminal.wait("the header of \(day)") { $0.cursorLine?.hasPrefix("▾ \(day)") == true }
      }
    }

    @Test func sectionIsFoldedAndUnfolded() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("gg", "j", "za")
      let folded = try terminal.wait(for: "▸ Pinned")
      #expect(!folded.contains("★"))
      #expect(folded.body.dropFirst().first?.hasPrefix("▾ Sat 29 Aug 2026") == true)
      try terminal.keys("za")
      let unfolded = try terminal.wait(for: "▾ Pinned")
      #expect(unfolded.lines.count { $0.contains("★") } == 8)
    }

    @Test func changedRoleMovesTheRowAndIsThereAfterARestart() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--view", "roster"])
      let first = try terminal.wait("the whole list") {
        $0.contains("Aisling Ní Bhriain") && $0.contains("▾ Participants") && $0.contains("of 40")
      }
      #expect(first.body.first?.contains("▾") == true)
      #expect(first.body.first?.contains("Organizers") == true)
      #expect(first.contains("▾ Participants"))
      try terminal.keys("gg", "j", "Enter")
      try terminal.wait(for: "5 fields")
      try terminal.keys("j", "j", "j", "j", "e", "C-u")
      try terminal.type("participant")
      try terminal.keys("Enter")
      try terminal.wait(for: "saved")
      try terminal.keys("q")
      let moved = try terminal.wait("the row in the other section") { screen in
        isBelow("▾ Participants", "Aisling Ní Bhriain", screen)
      }
      #expect(moved.cursorLine?.contains("Aisling") == true)
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
      try terminal.runnel(demo.arguments + ["--view", "Roster"])
      let again = try terminal.wait(for: "2 Roster")
      #expect(try demo.get("/user/aisling/role") == #""participant""#)
      #expect(!again.contains("Aisling") || isBelow("▾ Participants", "Aisling Ní Bhriain", again))
    }

    @Test func badNumberIsRefusedBesideTheField() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--view", "Roster"])
      try terminal.wait(for: "Aisling")
      try terminal.keys("gg", "j", "Enter")
      try terminal.wait(for: "5 fields")
      try terminal.keys("j", "e", "C-u")
      try terminal.type("4x")
      try terminal.keys("Enter")
      let refused = try terminal.wait("a message beside the field") {
        $0.first("plot")?.contains("!") == true
      }
      #expect(refused.first("plot")?.contains("4x") == true)
      #expect(try demo.get("/user/aisling/plot") == "4")
    }

    @Test func recordIsAddedAndDeleted() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments + ["--view", "Roster"])
      try terminal.wait(for: "40 rows")
      try terminal.keys("a")
      try terminal.wait(for: "Add a user to /user")
      try terminal.type("Aaron Aardvark")
      try terminal.keys("C-s")
      try terminal.wait("the new row under the cursor") {
        $0.cursorLine?.contains("Aaron Aardvark") == true
      }
      try terminal.keys("d")
      // A `y` that was struck before the question could be read does not count.
      try terminal.wait("the row gone") { screen in
        if screen.contains("y delete") { try? terminal.keys("y") }
        return !screen.contains("Aaron Aardvark")
      }
    }

    @Test func treeExpandsNodeByNode() throws {
      let demo = try DemoDatabase()
      let terminal = try TmuxTerminal()
      try terminal.runnel(demo.arguments)
      try terminal.wait(for: "row 57 of 57")
      try terminal.keys("g5")
      try terminal.wait(for: "▸ group_message")
      try terminal.keys("j", "j", "l")
      try terminal.wait(for: "▸ allotment")
      try terminal.keys("j", "l")
      let keys = try demo.messageKeys()
      let page = try terminal.wait(for: keys[0])
      #expect(page.first("▾ allotment")?.contains("2400 keys") == true)
      try terminal.keys("j", "l")
      let node = try terminal.wait(for: "created")
      #expect(node.first("created")?.contains("2026-") == true)
      #expect(node.first("from ")?.contains("string") == true)
      try terminal.keys("h")
      try terminal.wait(forNo: "created")
      try terminal.keys("h", "51j")
      try terminal.wait("the row for more under the cursor") {
        $0.cursorLine?.contains("more rows not loaded - Enter fetches 50") == true
      }
      try terminal.keys("Enter")
      try terminal.wait(for: "108 lines")
      try terminal.keys("54G")
      try terminal.wait("the first row of the second page") {
        $0.cursorLine?.contains(keys[50]) == true
      }
    }
  }
}

/// A list of all messages by their keys.
private let viewsOfKeys = """
  views:
    - name: Keys
      path: /group_message/allotment
      order: $key
      anchor: last
      page: 50
      also:
        - { order: pinned, equal-to: true }
      sections:
        - { title: Pinned, where: { pinned: true } }
        - { day: created }
      columns:
        - { field: $key }

  """

private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

private func isBelow(_ header: String, _ row: String, _ screen: TerminalText) -> Bool {
  guard let header = screen.line(of: header), let row = screen.line(of: row) else { return false }
  return header < row
}

/// Goes through a list page by page from the top, and expects these rows in this order.
private func expectRows(_ keys: [String], _ terminal: TmuxTerminal) throws {
  let places = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
  var end = 0
  try terminal.keys("gg")
  while end < keys.count {
    var page = 0..<0
    // A screen that is seen half painted is no run of rows, and is looked at again.
    try terminal.wait("the rows from number \(end) on, with none left out and none twice") {
      screen in
      let places = screen.body.compactMap { line in
        line.split(separator: " ").last.flatMap { places[String($0)] }
      }
      guard let first = places.first, places == Array(first..<first + places.count) else {
        return false
      }
      page = first..<first + places.count
      return page.lowerBound <= end && page.upperBound > end
    }
    end = page.upperBound
    try terminal.keys("PgDn")
  }
}
