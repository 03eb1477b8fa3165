// RunnelBase.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase

func total(_ text: String) throws -> Int {
  let json = try JSONValue(parsing: text)  // throws with line and column
  return (json["items"]?.array ?? []).reduce(0) { $0 + ($1["count"]?.int ?? 0) }
}

func renamed(_ json: JSONValue, to name: String) -> String {
  guard case .object(let members) = json else { return json.jsonText() }
  let others = members.filter { $0.name != "name" }
  return JSONValue.object([JSONMember("name", .string(name))] + others).jsonText()
}
// example end
