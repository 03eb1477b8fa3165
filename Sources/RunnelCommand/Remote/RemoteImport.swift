import RunnelBase
import RunnelTree

/// A document that is written to a server in batches, since a server takes so much at once only.
///
/// The batches of one document are always the same, so that an import that broke off can go on.
struct RemoteImport {
  /// The most bytes of a batch, except for one that is a single value.
  static let batchBytesMax = 2_097_152
  /// The most values of a batch.
  static let batchCountMax = 10_000

  /// What is written, in order; each is one request.
  private(set) var batches: [Write] = []

  private let place: Path
  private var members: [JSONMember] = []
  private var bytes = 0

  /// Divides a document.
  ///
  /// O(n) in the document, times its depth.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - place: where it is written.
  ///   - merges: whether what it does not name stays.
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
    // A document that is one value stands at the place itself.
    if path.isEmpty { return batches.append(.set(place, json)) }
    if bytes + size > bytesMax || members.count == RemoteImport.batchCountMax { flush() }
    members.append(JSONMember(path, json))
    bytes += size + path.utf8.count
  }

  /// True for what looks like an object and is a value: one with a priority, or what a server fills in.
  private func isValue(_ members: [JSONMember]) -> Bool {
    members.isEmpty || members.contains { [".value", ".sv"].contains($0.name) }
  }

  private mutating func flush() {
    if !members.isEmpty { batches.append(.update(place, members)) }
    (members, bytes) = ([], 0)
  }
}

extension RemoteDatabase {
  /// Writes the batches of a document, from one on.
  ///
  /// - Throws: `Failure` that says how to go on.
  func write(_ document: RemoteImport, from first: Int, _ progress: (Int) -> Void) throws {
    for index in (first - 1)..<document.batches.count {
      do {
        try write(document.batches[index])
      } catch let failure as Failure {
        guard document.batches.count > 1 else { throw failure }
        throw Failure(
          "\(failure.message) Batches 1 to \(index) of \(document.batches.count) were written; "
            + "--from-batch \(index + 1) goes on.", status: failure.status)
      }
      progress(index + 1)
    }
  }
}
