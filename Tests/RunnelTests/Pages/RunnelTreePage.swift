// RunnelTree.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelTree

func newestOpen() throws -> String {
  let query = try Query(Path("rooms/kitchen"))
    .ordered(by: SortKey.list("pinned:desc,at"))
    .filtered(by: ChildPredicate(parsing: #"not done and text contains "tea""#))
    .limited(to: 20, from: .last)
  return "\(query.path) by \(query.index)"
}

func isWanted(_ json: JSONValue) throws -> Bool {
  let child = Child(key: try Key("a"), node: try Node(json: json))
  return try ChildPredicate(parsing: "likes >= 3 or pinned").holds(of: child)
}
// example end
