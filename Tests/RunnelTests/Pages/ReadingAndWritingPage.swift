// ReadingAndWriting.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

struct Chore: Codable, Equatable, Sendable {
  var title: String
  var due: Int
  var isDone = false
}

func writeChores(in database: Database) async throws {
  let chores = try database.reference(withPath: "chores")
  try await chores.child("milk").setValue(Chore(title: "Milk", due: 3))  // replaces the place
  try await chores.push(Chore(title: "Call Bo", due: 1))  // a new key, after those pushed before
  try await chores.updateChildValues([  // several places in one write
    "milk/isDone": true, "tea": ["title": "Tea", "due": 2, "isDone": false],
  ])
  try await chores.child("milk").mergeValue(["note": ["by": "ana"]])  // down to the leaves
  try await chores.child("count").setValue(ServerValue.increment(1))  // computed in the write
  try await chores.child("count").removeValue()
}
// example end

// example begin
func openChores(in database: Database) async throws -> [String] {
  let chores = try database.reference(withPath: "chores")
  let byDue = try chores.queryOrdered(byChild: "due")
  let first = try await byDue.queryLimited(toFirst: 2).children(as: Chore.self)
  let open = try await byDue.queryFiltered(by: ChildPredicate(parsing: "not isDone"))
    .children(as: Chore.self)
  let one = try await chores.child("milk").get(as: Chore?.self)  // nil if nothing is there
  return [first.map(\.value.title), open.map(\.key), [one?.title ?? "none"]].map {
    $0.joined(separator: " ")
  }
}
// example end

// example begin
func finish(_ chore: Reference) async throws -> Bool {
  let seen = try await chore.get()
  try await chore.runTransaction { current in
    if !current.exists { return .abort }
    var value = try current.decode(Chore.self)
    value.due += 1
    return .success(value)
  }
  do {
    try await chore.setValue(Chore(title: "Mine", due: 0), ifUnchangedSince: seen)
    return true
  } catch let error as TreeDatabaseError where error.code == .changed {
    return false  // show the user both
  }
}
// example end

// example begin
import Foundation

func replaceChores(in database: Database, by document: [UInt8], copy: String) async throws -> Int {
  guard FileManager.default.createFile(atPath: copy, contents: nil) else { return 0 }
  let output = try FileHandle(forWritingTo: URL(fileURLWithPath: copy))
  defer { try? output.close() }  // all is written before
  let place = try Path("chores")
  try await database.exportJSON(place, layout: .pretty) { try output.write(contentsOf: $0) }
  try await database.importJSON(document, at: place, mode: .replace) { step in
    if case .reading(let bytes) = step { print("\(bytes) of \(document.count) bytes") }
  }
  let newest = try await database.history(of: place, count: 1).entries
  for entry in newest { try await database.undo(entry.id) }  // the chores are as before
  return newest.count
}
// example end
