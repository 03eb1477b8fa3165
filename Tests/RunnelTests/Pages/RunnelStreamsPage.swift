// RunnelStreams.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelStreams

struct Draft: StreamItem {
  var id: String
  var text: String
  var isPinned = false
}

func sectionsOfDrafts() -> [[String]] {
  let drafts = TransientStream<Draft>()
  let parts = PartitionedStream(drafts, titles: ["pinned", "others"]) { $0.isPinned ? 0 : 1 }
  let table = TextTable()
  let adapter = IndexPathAdapter(parts) { update in
    table.apply(update) { row in if case .item(let draft) = row { draft.text } else { "" } }
  }
  adapter.start()
  drafts.put(Draft(id: "a", text: "Tea?"), Draft(id: "b", text: "Later"))
  drafts.put(Draft(id: "a", text: "Tea!", isPinned: true))  // one move, and new content
  return table.rows
}
// example end
