import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// The priority of a node over HTTP.
///
/// Source: wire protocol, section C3; tree semantics, sections 3 and 8.
@Suite struct RESTPriorityTests {
  private func world() throws -> RESTWorld {
    try RESTWorld(#"{"n":4,"prio":{".value":"x",".priority":2},"list":{"a":1,"b":2}}"#)
  }

  private func export(_ place: String, _ world: RESTWorld) throws -> String {
    world.tree.tree.root[try Path(place)].exportJSON.jsonText()
  }

  @Test func aPriorityIsReadAndWrittenAlone() throws {
    var world = try world()
    #expect(world.ask("GET", "/prio/.priority.json").body == "2")
    #expect(world.ask("GET", "/prio/.priority/.json").body == "2")
    #expect(world.ask("GET", "/n/.priority.json").body == "null")
    #expect(world.ask("GET", "/.priority.json").body == "null")
    #expect(world.ask("GET", #"/prio/.priority.json?orderBy="$key"&limitToFirst=1"#).body == "null")
    #expect(world.ask("PUT", "/n/.priority.json", "7").body == "7")
    #expect(try export("/n", world) == #"{".value":4,".priority":7}"#)
    #expect(world.ask("PUT", "/prio/.priority.json", #""high""#).body == #""high""#)
    #expect(try export("/prio", world) == #"{".value":"x",".priority":"high"}"#)
    let time = world.ask("PUT", "/list/.priority.json", #"{".sv":"timestamp"}"#)
    #expect((time.status, time.body) == (200, "1735689600123"))
    #expect(world.ask("GET", "/list/.priority.json").body == "1735689600123")
    #expect(world.ask("GET", "/list.json").body == #"{"a":1,"b":2}"#)
  }

  @Test func aPriorityIsRemoved() throws {
    var world = try world()
    #expect(world.ask("DELETE", "/prio/.priority.json").body == "null")
    #expect(try export("/prio", world) == #""x""#)
    #expect(world.ask("PUT", "/prio/.priority.json", "3").body == "3")
    #expect(world.ask("PUT", "/prio/.priority.json", "null").body == "null")
    #expect(try export("/prio", world) == #""x""#)
  }

  @Test func whatIsEmptyTakesNoPriority() throws {
    var world = try world()
    let answer = world.ask("PUT", "/none/.priority.json", "3")
    #expect((answer.status, answer.body) == (200, "3"))
    #expect(world.ask("GET", "/none/.priority.json").body == "null")
    #expect(world.tree.tree.root[try Path("/none")].isEmpty)
  }

  @Test func anUpdateWritesPriorities() throws {
    var world = try world()
    let body = #"{".priority":5,"a":9,"b/.priority":1}"#
    #expect(world.ask("PATCH", "/list.json", body).body == body)
    #expect(world.ask("GET", "/list/.priority.json").body == "5")
    #expect(world.ask("GET", "/list/b/.priority.json").body == "1")
    #expect(world.ask("GET", "/list.json").body == #"{"a":9,"b":2}"#)
    #expect(world.ask("PATCH", "/list.json", #"{".priority":null}"#).status == 200)
    #expect(world.ask("GET", "/list/.priority.json").body == "null")
  }

  @Test(arguments: [
    ("PUT", "/n/.priority.json", "true", "A priority is a number, a string or null."),
    ("PUT", "/n/.priority.json", #"{"a":1}"#, "A priority is a number, a string or null."),
    ("PUT", "/n/.priority.json", "", "No data supplied."),
    ("PATCH", "/n/.priority.json", #"{"a":1}"#, "A priority has nothing below it"),
    ("POST", "/n/.priority.json", "1", "A priority has nothing below it"),
    ("GET", "/n/.priority/a.json", "", "Invalid path: "),
    ("PUT", "/.priority/a.json", "1", "Invalid path: "),
  ])
  func whatIsNoPriorityIsRefused(method: String, target: String, body: String, text: String) throws
  {
    var world = try world()
    let before = world.tree.tree
    let answer = world.ask(method, target, body.isEmpty ? nil : body)
    #expect(answer.status == 400)
    #expect(answer.body.contains(text), "\(answer.body)")
    #expect(world.tree.tree == before)
  }

  @Test func aPriorityHasNoTagAndNoEvents() throws {
    var world = try world()
    let put = world.ask("PUT", "/n/.priority.json", "1", ["if-match": "x"])
    #expect(put.status == 400)
    #expect(put.body.contains("if-match goes with nodes"))
    #expect(world.ask("GET", "/n/.priority.json", nil, ["X-Firebase-ETag": "true"])["ETag"] == nil)
    let (_, head) = world.stream("/n/.priority.json")
    #expect(head.status == 400)
  }
}
