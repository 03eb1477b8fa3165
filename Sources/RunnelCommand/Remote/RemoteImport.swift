import RunnelBase
import RunnelTree

/// A document divided into batches, because a server limits the size of one write.
///
/// The same document always gives the same batches, so that an interrupted import can be continued.
struct RemoteImport {
  /// The most bytes of a batch; a batch of one single value may be larger.
  static let batchBytesMax = 2_097_152
  /// The most values of a batch.
  static let batchCountMax = 10_000

  /// The writes, in order; each is sent as one request.
  private(set) var batches: [Write] = []

  /// The place where the document is written.
  let place: Path
  /// Whether children that the document does not name are kept.
  let merges: Bool
  private var members: [JSONMember] = []
  private var bytes = 0

  /// Divides a document.
  ///
  /// The cost is the size of the document times its depth.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - place: the place where it is written.
  ///   - merges: whether children that the document does not name are kept.
  ///   - bytesMax: the most bytes of a batch.
  init(
    _ json: JSONValue, at place: Path, merges: Bool, bytesMax: Int = RemoteImport.batchBytesMax
  ) {
    (self.place, self.merges) = (place, merges)
    let size = json.jsonBytes().count
    if !merges, size <= bytesMax {
      batches = [.set(place, json)]
      return
    }
    if !merges { batches = [.set(place, .null)] }
    add(json, size, below: "", merges: merges, bytesMax)
    flush()
  }

  /// The number of values that a batch writes: how many members of an update.
  func valueCount(ofBatch index: Int) -> Int {
    switch batches[index] {
    case .set(_, .null): 0
    case .update(_, let members): members.count
    case .set, .copy, .move: 1
    }
  }

  /// Words for an import that was stopped while the batch after one was being written.
  static func wordsWhenStopped(afterBatch written: Int, of count: Int) -> String {
    if count == 1 {
      return
        "The import was stopped: whether the document was written is not known. Import it again."
    }
    let next = written + 1
    if next > count { return "The import was stopped after its last batch: all of it was written." }
    let unknown = "whether batch \(next) of \(count) was written is not known"
    if written == 0 { return "The import was stopped: \(unknown). Import the document again." }
    return "The import was stopped: \(unknown), and those before it were; "
      + "continue with --from-batch \(next)."
  }

  private mutating func add(
    _ json: JSONValue, _ size: Int, below path: String, merges: Bool, _ bytesMax: Int
  ) {
    if case .object(let children) = json, merges || size > bytesMax, !isValue(children) {
      for child in children {
        let name = path.isEmpty ? child.name : path + "/" + child.name
        add(
          child.value, child.value.jsonBytes().count, below: name, merges: merges, bytesMax)
      }
      return
    }
    // A document that is one value is written at the place itself.
    if path.isEmpty { return batches.append(.set(place, json)) }
    if bytes + size > bytesMax || members.count == RemoteImport.batchCountMax { flush() }
    members.append(JSONMember(path, json))
    bytes += size + path.utf8.count
  }

  /// Returns whether an object stands for one value: a value with a priority, or a value that the
  /// server fills in.
  private func isValue(_ members: [JSONMember]) -> Bool {
    members.isEmpty || members.contains { [".value", ".sv"].contains($0.name) }
  }

  private mutating func flush() {
    if !members.isEmpty { batches.append(.update(place, members)) }
    (members, bytes) = ([], 0)
  }
}
