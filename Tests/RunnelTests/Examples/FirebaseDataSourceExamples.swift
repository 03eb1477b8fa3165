// ComingFromFirebaseDataSource.md shows what stands between the marks; a test holds them equal.

// example begin
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

func show(_ values: Reference, until isEnough: ([String]) -> Bool) async throws {
  for try await change in values.changes() {  // the loop's end is the observers' end
    let texts = change.items.compactMap { $0["text"].string }
    if isEnough(texts) { break }
  }
}
// example end

// example begin
final class SomeClass {
  let array: SyncedArray

  init(_ session: StreamSession, _ values: Reference, log: @escaping (String) -> Void) {
    array = session.syncedArray(of: values)
    array.onUpdate = { update in
      for place in update.removed { log("removed \(place.path.row)") }
      for place in update.changed { log("changed \(place.path.row)") }
      for place in update.added { log("added \(place.path.row)") }
      for move in update.moved { log("moved \(move.from.row) to \(move.to.row)") }
    }
  }
}
// example end

// example begin
final class DataSourceController {
  let dataSource: IndexPathDataSource<Record>

  init(_ session: StreamSession, _ values: Reference, _ table: TextTable) {
    dataSource = session.dataSource(of: values)
    dataSource.onUpdate = { table.apply($0, text: DataSourceController.text) }
  }

  func viewDidAppear() { dataSource.startSync() }
  func viewDidDisappear() { dataSource.stopSync() }

  func numberOfRows(inSection section: Int) -> Int { dataSource.numberOfRows(inSection: section) }
  func text(at path: ListIndexPath) -> String { Self.text(dataSource[path]) }

  func delete(at path: ListIndexPath) { dataSource.remove(at: path) }

  static func text(_ row: AdapterRow<Record>) -> String {
    guard case .item(let record) = row else { return "" }
    return record["text"].string ?? ""
  }
}
// example end

// example begin
final class ShortLivedView {
  private let sync: SyncToken

  init(_ dataSource: IndexPathDataSource<Record>) { sync = dataSource.sync() }
  // When the view goes, the token goes, and the syncing with it.
}
// example end
