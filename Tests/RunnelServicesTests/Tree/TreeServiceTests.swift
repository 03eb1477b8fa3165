import Foundation
import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Services whose records are in a tree.
@Suite struct TreeServiceTests {
  private let folder: URL
  private let database: Database

  init() async throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("runnel-services-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    database = try await Database.open(file: folder.appendingPathComponent("test.db").path)
  }

  private func end() throws {
    database.close()
    try FileManager.default.removeItem(at: folder)
  }

  private var place: Reference {
    get throws { try database.reference(withPath: "records") }
  }

  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.map { JSONMember($0.name, sorted($0.value)) }.sorted { $0.name < $1.name })
    default: value
    }
  }

  /// The answer, or the error, in a form that can be compared.
  private func outcome(_ service: ServiceHandle, _ request: ServiceRequest) async -> String {
    do throws(FeathersError) {
      let json = sorted(try await service.request(request).json)
      // Calls that concern several records answer in the service's own order.
      guard request.method != .find, case .array(let records) = json else { return json.jsonText() }
      return records.map { $0.jsonText() }.sorted().joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  private func exists(_ data: JSONValue?, _ service: ServiceHandle) async -> Bool {
    guard let record = data?.array?.first ?? data,
      let id = record["id"].flatMap({ ServiceID(json: $0) })
    else { return false }
    return (try? await service.get(id)) != nil
  }

  /// A limit would change nothing about what is removed, so it is refused.
  @Test func aLimitOfWhatIsRemovedIsRefused() async throws {
    let app = Feathers()
    try await app.use(
      "records", TreeService(try place, multi: [.create, .patch, .remove]))
    let records = app.service("records")
    _ = try await records.create([["a": 1], ["a": 2]])
    for name in ["$limit", "$skip"] {
      var query = ServiceQuery()
      query[name] = 0
      let answer = await outcome(records, .remove(id: nil, query: query))
      #expect(answer.contains("BadRequest") && answer.contains(name))
    }
    let count = try await records.find().records.count
    #expect(count == 2)
    try end()
  }

  /// Whatever is done, the service answers as the one in memory does.
  @Test(arguments: 0..<12 as Range<UInt64>)
  func aServiceOnATreeAnswersAsOneInMemory(seed: UInt64) async throws {
    let app = Feathers()
    let rules = QueryRules(pages: PageRules(standard: 5, max: 8))
    try await app.use("memory", MemoryService(multi: .all, rules: rules))
    try await app.use("tree", TreeService(try place, multi: .all, rules: rules))
    var random = RandomQueries(seed: seed)
    for step in 0..<80 {
      let request = random.request()
      // The memory service replaces a record that is there, as that of Feathers does.
      if request.method == .create, await exists(request.data, app.service("memory")) { continue }
      let expected = await outcome(app.service("memory"), request)
      let found = await outcome(app.service("tree"), request)
      #expect(found == expected, "seed \(seed), step \(step): \(request)")
      if found != expected { break }
    }
    try end()
  }

  @Test func theExampleOfThePageRuns() async throws {
    #expect(try await keepNotes(in: database).sorted() == ["Bread", "Milk", "Milk"])
    try end()
  }

  @Test func recordsOfOthersNeedNoID() async throws {
    try await place.setValue(["ana": ["name": "Ana"], "n": 5])
    let app = Feathers()
    try await app.use("people", TreeService(try place))
    let people = app.service("people")
    #expect(try await people.get("ana") == ["id": "ana", "name": "Ana"])
    #expect(try await people.get("n") == ["id": "n", "value": 5])
    try await people.patch("ana", ["age": 30, "tags": []])
    // The key is the id, and is not stored a second time.
    #expect(
      try await place.child("ana").get().value
        == ["age": 30, "name": "Ana", "tags": ["~": "a"]])
    #expect(try await people.get("ana")["tags"] == [])
    try end()
  }

  @Test func anIDThatIsTakenIsAConflictAndNothingIsWritten() async throws {
    let app = Feathers()
    try await app.use("people", TreeService(try place, multi: .create))
    let people = app.service("people")
    try await people.create(["id": "a", "n": 1])
    await #expect {
      try await people.create([["id": "b"], ["id": "a"]])
    } throws: { ($0 as? FeathersError)?.kind == .conflict }
    #expect(try await people.find().records.count == 1)
    let made = try await people.create(["n": 2])
    #expect(made["id"]?.string?.utf8.count == 20, "a key in the order of time")
    let odd = try await people.create(["id": "a/b.c", "n": 3])
    #expect(try await people.get("a/b.c") == odd)
    try end()
  }

  /// Calls at the same time change one record one after the other.
  @Test func callsAtTheSameTimeLoseNothing() async throws {
    let app = Feathers()
    try await app.use("people", TreeService(try place, multi: .all))
    let people = app.service("people")
    try await people.create(["id": "a"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask { _ = try await people.patch("a", .object([JSONMember("f\(number)", 1)])) }
      }
      try await group.waitForAll()
    }
    #expect(try await people.get("a").object?.count == 5)
    try end()
  }
}

extension RandomQueries {
  /// A call with ids from a few, so that they meet.
  fileprivate mutating func request() -> ServiceRequest {
    let id = ServiceID(pick(["a", "b", "c", "d.e", "%f"]))
    let query = chance(3) ? conditions(depth: 1) : ServiceQuery()
    var data = record().setting("n", to: .number(JSONNumber(Int64(number(0..<5)))))
    switch number(0..<8) {
    case 0, 1:
      return .find(query: query.sort("n").sort("id").limit(number(0..<10)))
    case 2: return .get(id: id, query: query)
    case 3: return .update(id: id, data: data, query: query)
    case 4: return .patch(id: chance(3) ? nil : id, data: data, query: query)
    case 5: return .remove(id: chance(5) ? nil : id, query: query)
    default:
      data = data.setting("id", to: .string(id.text))
      return .create(data: chance(4) ? .array([data]) : data)
    }
  }
}
