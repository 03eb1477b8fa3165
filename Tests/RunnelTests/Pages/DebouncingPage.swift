// Debouncing.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

func followCalmly(_ list: Reference, until isEnough: (Int) -> Bool) async throws -> Int {
  var told = 0
  for try await change in list.changes(batching: .standard) {  // 0.1 s, 0.5 s, 1,000 rows
    told += 1
    if isEnough(change.sections.reduce(0) { $0 + $1.count }) { break }
  }
  return told
}
// example end

// example begin
func shownCount(_ list: Reference, _ count: Int) async throws -> Bool {
  let session = StreamSession(list.database)
  let source = session.stream(of: list)
  let policy = BatchingPolicy(quietMilliseconds: 20, waitMillisecondsMax: 50, rowCountMax: 500)
  let calm = session.batched(source, by: policy)
  try await session.waitUntil { calm.count >= count }
  return source.items.map(\.key) == calm.items.map(\.key)
}
// example end
