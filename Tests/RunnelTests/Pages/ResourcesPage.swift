// Resources.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

struct Shelf: Resource {
  var key: String?
  var name: String
  var itemCount: Int?  // the registry counts
}

struct StoredItem: Resource {
  var key: String?
  var shelf: String
  var kind: String
  var amount: Int?
}

func storeRegistry() throws -> ResourceRegistry {
  let shelf = try ResourceSchema([FieldRule("name", .text(length: 1...40), isRequired: true)])
  let item = try ResourceSchema(
    [
      FieldRule("shelf", .reference("Shelf"), isRequired: true),
      FieldRule("kind", .choice(["book", "tool"]), isRequired: true),
      FieldRule("amount", .integer(1...99), initial: 1),
      FieldRule("since", .time, initial: [".sv": "timestamp"]),
    ], allowsOthers: false)
  var registry = ResourceRegistry()
  try registry.resource(Shelf.self, path: "/shelf/@", schema: shelf)
  try registry.resource(StoredItem.self, path: "/item/@", schema: item)
  try registry.counter(Shelf.self, name: "itemCount", countingType: StoredItem.self)
  try registry.cascade(from: Shelf.self, to: StoredItem.self)  // destroyed with its shelf
  return registry
}

func fillShelf(in database: Database) async throws -> [String] {
  let base = try ResourceBase(database, storeRegistry())
  let context = try base.context()
  let shelf = try await context.create(Shelf(name: "Left")).object  // has its key now
  let key = shelf.key ?? ""
  try await context.create(StoredItem(shelf: key, kind: "book"))
  do {
    try await context.create(StoredItem(shelf: key, kind: "boat", amount: 100))
    return []
  } catch let error as ResourceError where error.code == .invalidFields {
    return error.fields.map { "\($0.field): \($0.message)" }  // beside the fields of a form
  }
}
// example end
