import Foundation
import Runnel
import Synchronization
import Testing

/// The examples of the library's pages, which are compiled in `Pages`, run.
///
/// `DocumentTests` compares the pages with the compiled examples.
@Suite(.timeLimit(.minutes(5))) final class PageTests {
  /// The number of looks at what no event tells: far beyond what is needed, so that a test that fails ends.
  private static let stepsMax = 20_000_000

  private let file: String

  init() {
    file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
  }

  deinit {
    // A file that cannot be removed stays in the folder for temporary files.
    for name in ["", "-home"] {
      for end in ["", "-wal", "-shm", "-notify", "-copy"] {
        try? FileManager.default.removeItem(atPath: file + name + end)
      }
    }
  }

  private func open() async throws -> TreeDatabase { try await TreeDatabase.open(file: file) }

  @Test func theFirstHourRuns() async throws {
    #expect(try await firstHour(file: file) == ["Ana 7", "Bo 0"])
  }

  @Test func valuesAreReadWithAndWithoutAType() async throws {
    let warm = try #require(warmest(forecast))
    #expect(warm.city == "Oslo" && warm.high == 3.5)
    #expect(warmest(["city": 5]) == nil && warmest("Oslo") == nil)
    let database = try await open()
    #expect(try await keepWeather(in: database) == ["Oslo", "3.5", "/weather/oslo/high"])
    database.close()
  }

  @Test func placesAreReadAndWritten() async throws {
    let database = try await open()
    try await writeChores(in: database)
    #expect(try await openChores(in: database)[0] == "Call Bo Tea")
    #expect(try await openChores(in: database)[2] == "Milk")
    let milk = try database.reference(withPath: "chores/milk")
    #expect(try await milk.child("note/by").get().value == "ana")
    #expect(try await !finish(milk))
    #expect(try await milk.child("due").get().value == 4)
    let chores = try await database.reference(withPath: "chores").get().value
    let new = Array(#"{"new": {"title": "x"}}"#.utf8)
    #expect(try await replaceChores(in: database, by: new, copy: file + "-copy") == 1)
    #expect(try await database.reference(withPath: "chores").get().value == chores)
    let copy = try Data(contentsOf: URL(fileURLWithPath: file + "-copy"))
    #expect(try JSONValue(parsing: copy) == chores)
    database.close()
  }

  @Test func recordsFollowTheirSchema() async throws {
    let database = try await open()
    #expect(
      try await fillShelf(in: database) == [
        "kind: must be one of \"book\", \"tool\".", "amount: must be a whole number from 1 to 99.",
      ])
    let shelves = try await database.reference(withPath: "shelf").get()
    #expect(shelves.children.map(\.value) == [["itemCount": 1, "name": "Left"]])
    let items = try await database.reference(withPath: "item").get()
    #expect(items.children.first?.value["amount"] == 1)
    #expect(items.children.first?.value["since"]?.int != nil)
    database.close()
  }

  @Test func valuesAndListsAreFollowed() async throws {
    let database = try await open()
    let scores = try database.reference(withPath: "scores")
    try await scores.child("bo").setValue(Score(name: "Bo", points: 20))
    async let record = waitForRecord(scores)
    try await scores.child("ana").setValue(Score(name: "Ana", points: 120))
    #expect(try await record == "Ana")
    try await followList(scores) { rows in
      #expect(rows == ["ana Ana 120", "bo Bo 20"])
      return true
    }
    let board = ScoreBoard(scores)
    let following = Task { try await board.follow() }
    for _ in 0..<PageTests.stepsMax {
      if await board.names == ["Ana", "Bo"] { break }
      await Task.yield()
    }
    #expect(await board.names == ["Ana", "Bo"])
    following.cancel()
    try await following.value
    #expect(await board.changeCount > 0)
    #expect(try await countBoth(scores, database.reference(withPath: "none")) == 2)
    #expect(try await isFilled(scores, within: .seconds(600)))
    #expect(try await !isFilled(database.reference(withPath: "none"), within: .zero))
    #expect(try await showByInitial(scores) == ["A: Ana Ada", "B: Bo"])
    let visits = try database.reference(withPath: "visits")
    let stored: JSONValue = [
      "a": ["team": "red", "at": 90_000_000], "b": ["at": 180_000_000], "c": ["at": 1],
    ]
    try await visits.setValue(stored)
    let start = Date(timeIntervalSince1970: 86_400)
    #expect(try await countVisits(visits, since: start) == ["no team 1", "red 1", "2 days"])
    database.close()
  }

  @Test @MainActor func modelOfAViewFollowsOnTheMainActor() async throws {
    let database = try await TreeDatabase.open(file: file)
    let scores = try database.reference(withPath: "scores")
    let model = ScoreModel(scores)
    model.appear()
    try await scores.child("bo").setValue(Score(name: "Bo", points: 20))
    for _ in 0..<PageTests.stepsMax {
      if model.lines == ["Bo"] { break }
      await Task.yield()
    }
    #expect(model.lines == ["Bo"])
    model.disappear()
    database.close()
  }

  @Test func pagesJoinWithoutGapsOrRepeats() async throws {
    let database = try await open()
    let log = try database.reference(withPath: "log")
    var entries: [String: JSONValue] = [:]
    for number in 0..<100 {
      entries["k\(1000 + number)"] = ["name": "x", "points": JSONValue(number)]
    }
    try await log.updateChildValues(entries)
    #expect(
      try await readPages(log) == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 16])
    let short = try database.reference(withPath: "short")
    try await short.setValue(["a": ["name": "x", "points": 50]])
    #expect(try await readPages(short) == [1, 1])
    database.close()
  }

  @Test func indexesAreDeclaredAndAdvised() async throws {
    let database = try await openWithIndexes(file)
    var players: [String: JSONValue] = [:]
    for number in 0..<1200 { players["p\(number)"] = ["age": JSONValue(number)] }
    try await database.reference(withPath: "players").updateChildValues(players)
    #expect(
      try await declareLater(database) == [
        "/players by points", "/rooms/$room by pinned:desc,at", "/players by age",
      ])
    database.close()
  }

  @Test func changesOfListsAreDeliveredInBatches() async throws {
    let database = try await open()
    let list = try database.reference(withPath: "list")
    async let told = followCalmly(list) { $0 == 30 }
    for number in 0..<30 { try await list.child("k\(number)").setValue(number) }
    #expect(try await told <= 31)
    #expect(try await shownCount(list, 30))
    database.close()
  }

  @Test func aReplicaReportsTheOriginsAnswerToAWrite() async throws {
    let database = try await openReplica(file: file)
    #expect(try await writeOffline(database) == "later")
    let home = try await TreeDatabase.open(file: file + "-home")
    let origin = HomeOrigin(home)
    let notes = try database.reference(withPath: "notes")
    let watching = notes.observe(.value) { _ in }
    let serving = Task { try await origin.serve(database) }
    #expect(try await writeTwice(database, origin) == ["PERMISSION_DENIED", "0", "mine"])
    // The write that was made without a connection has come first.
    #expect(
      try await home.reference(withPath: "notes").get().value == ["a": "mine", "b": "later"])
    // What was acknowledged does not disappear where it is observed.
    #expect(try await notes.get(from: .cache).value == ["a": "mine", "b": "later"])
    origin.refusesAll.withLock { $0 = false }
    try await writeOnThePlane(database)
    #expect(try await home.reference(withPath: "notes/c").get().value == "above the clouds")
    watching.cancel()
    serving.cancel()
    try await serving.value
    database.close()
    home.close()
  }

  @Test func aConditionOnAReplicaIsCheckedByItsOrigin() async throws {
    let database = try await openReplica(file: file)
    let home = try await TreeDatabase.open(file: file + "-home")
    let origin = HomeOrigin(home)
    let serving = Task { try await origin.serve(database) }
    let (form, there) = (
      try database.reference(withPath: "form"), try home.reference(withPath: "form")
    )
    #expect(try await edit(form) == "saved")
    #expect(try await there.get().value == ["text": "mine"])
    // The replica does not hear of this.
    try await there.setValue(["text": "theirs"])
    let late = try await form.setValue(["text": "late"], ifUnchangedSince: form.get(from: .cache))
    let error = await #expect(throws: TreeDatabaseError.self) { try await late.acknowledgement() }
    #expect(error?.code == .changed)
    #expect(try await there.get().value == ["text": "theirs"])
    #expect(try await form.get(from: .cache).value == ["text": "theirs"])
    #expect(try await database.pendingWrites().isEmpty)
    let read = try await form.get(from: .origin)
    try await form.child("text").setValue("again", ifUnchangedSince: read).acknowledgement()
    #expect(try await there.get().value == ["text": "again"])
    serving.cancel()
    try await serving.value
    database.close()
    home.close()
  }

  @Test func jobsAreDoneOnce() async throws {
    let database = try await open()
    let jobs = [Payment(number: 1, amount: 5), Payment(number: 2, amount: 7)]
    #expect(try await carryOut(Array(jobs.prefix(1)), in: database) == 1)
    #expect(try await carryOut(jobs, in: database) == 1)
    #expect(try await database.reference(withPath: "total").get().value == 12)
    database.close()
  }

  @Test func aClosedDatabaseIsNoLongerOnline() async throws {
    let here = try await open()
    let there = try await open()
    try await comeOnline("ana", in: here)
    try await comeOnline("bo", in: there)
    there.close()
    try await waitUntilAlone(here)
    #expect(try await here.reference(withPath: "online/ana").get().exists)
    here.close()
  }

  @Test func examplesOfTheLibrariesBelowRun() throws {
    #expect(try total(#"{"items": [{"count": 2}, {"count": 5}, {}]}"#) == 7)
    #expect(renamed(["name": "a", "x": 1], to: "b") == #"{"name":"b","x":1}"#)
    #expect(try newestOpen() == "/rooms/kitchen by pinned:desc,at")
    #expect(try isWanted(["likes": 4]) && isWanted(["pinned": true]) && !isWanted(["likes": 1]))
    #expect(sectionsOfDrafts() == [["Tea!"], ["Later"]])
  }

  @Test func theFirebasePageRuns() async throws {
    let database = try await open()
    #expect(try await seatGuests(in: database) == ["Ana"])
    database.close()
  }
}
