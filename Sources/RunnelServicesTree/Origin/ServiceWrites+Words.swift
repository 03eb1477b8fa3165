import RunnelBase
import RunnelServices
import RunnelTree

extension ServiceWrites.Job {
  /// Words about the record at which a write of several records was refused, and those before it; empty if it
  /// is of one record.
  var refusedWords: String {
    let (before, all) = (doneBefore + done, doneBefore + items.count)
    if all < 2 || done >= items.count { return "" }
    let values = items[done].edits.map { ServiceRecordCoding.decoded($0.json) }
    let text = values.lazy.compactMap(\.firstText).first.map { " (\($0))" } ?? ""
    let words = " · record \(before + 1) of \(all)\(text)"
    if before == 0 { return words }
    let were = before == 1 ? "this change stays" : "these changes stay"
    return words + " · \(before) of \(all) records were changed before; \(were)"
  }
}
