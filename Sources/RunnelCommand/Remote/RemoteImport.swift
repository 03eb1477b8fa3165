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

  private let place: Path
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
    self.place = place
    let size = json.jsonBytes().count
    if !merges, size <= bytesMax {
      batches = [.set(place, json)]
      return
    }
    if !merges { batches = [.set(place, .null)] }
    add(json, size, below: "", merges: merges, bytesMax)
    flush()
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

extension RemoteDatabase {
  /// Writes the batches of a document, starting with number `first`.
  ///
  /// - Parameters:
  ///   - document: the batches.
  ///   - first: the number of the first batch to write, from 1 on.
  ///   - onlyIfEmpty: whether the first batch of all is written only if the place is empty at that time.
  ///   - advice: returns how to go on if the batch with a number cannot be written.
  ///   - progress: is called with the number of each batch after it was written.
  /// - Throws: `Failure` that says how to go on.
  func write(
    _ document: RemoteImport, from first: Int, onlyIfEmpty: Bool = false,
    advice: (_ next: Int) -> String = { "continue with --from-batch \($0)." },
    _ progress: (Int) -> Void
  ) throws {
    for index in (first - 1)..<document.batches.count {
      do {
        try write(document.batches[index], onlyIfEmpty: onlyIfEmpty && index == 0)
      } catch let failure as Failure {
        // Nothing was written: the whole can be done again.
        if index == 0 { throw failure }
        throw Failure(
          "\(failure.message) Batches 1 to \(index) of \(document.batches.count) were written; "
            + advice(index + 1), status: failure.status)
      }
      progress(index + 1)
    }
  }
}
