// RunnelSync.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelSync
import RunnelTree

/// Whether somebody may read a room: only its members.
func mayRead(_ room: String, as user: String, in tree: JSONValue) throws -> Bool {
  let rules = try RulesEngine(
    parsing: #"""
      {"rules": {"rooms": {"$room": {
        // Members have an entry below the room.
        ".read": "data.child('members').hasChild(auth.uid)"
      }}}}
      """#)
  var memory = MemoryTree()
  memory.root = try Node(json: tree)
  let verdict = try rules.decide(
    .read(Path("rooms/\(room)")), as: ["uid": .string(user)], now: 0,
    before: TreeRulesReader(memory))
  return verdict == .allowed
}
// example end
