import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree

/// Something that the benchmark cannot go on without.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Names a call of the system that failed, with its reason.
  static func system(_ call: String) -> BenchmarkError {
    BenchmarkError("\(call): \(String(cString: strerror(errno)))")
  }
}

/// A folder for the files of a run.
struct TemporaryFolder {
  let path: String

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array((parent + "/runnel-bench-XXXXXX").utf8CString)
    guard mkdtemp(&name) != nil else { throw BenchmarkError.system("mkdtemp in \(parent)") }
    path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Removes the folder with the files in it; it has no folders.
  func remove() {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink(file(name)) }
      }
      closedir(folder)
    }
    rmdir(path)
  }

  /// Removes a database with what stands beside it.
  func removeDatabase(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-notify"] { unlink(path + suffix) }
  }
}

/// The size of a file in bytes; 0 if there is none.
func fileSize(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

/// The demo's data in the forms that the measurements need.
struct DemoInput {
  /// The place of the messages.
  static let collection = "/group_message/" + DemoData.mainGroupID
  /// How much of a message's text is looked for on the screen, where a row cuts it.
  private static let visibleTextCount = 24

  /// The whole tree as JSON text.
  let document: [UInt8]
  /// The beginning of the newest message's text.
  let newestText: String
  /// The views file.
  let viewsFile: String

  init(messageCount: Int) throws {
    let demo = DemoData(seed: 1, messageCount: messageCount, endingAt: 1_788_111_900_000)
    var bytes: [UInt8] = []
    demo.write { bytes += $0 }
    document = bytes
    let newest = DemoInput.records(of: demo.json(), at: "", depth: 0).last {
      $0.key.hasPrefix(DemoInput.collection + "/")
    }
    guard let newest, let message = try JSONValue(parsing: Array(newest.json.utf8)).object,
      case .string(let text)? = message.first(where: { $0.name == "text" })?.value
    else { throw BenchmarkError("The demo has no messages.") }
    newestText = String(text.prefix(DemoInput.visibleTextCount).prefix { $0.isASCII })
    guard let views = ResourceFiles.path(of: "demo/demo.views.yaml") else {
      throw BenchmarkError("Resources/demo/demo.views.yaml was not found.")
    }
    viewsFile = views
  }

  /// Imports the demo; returns the path of the database, which has no indexes.
  func database(in folder: TemporaryFolder) throws -> String {
    let file = folder.file("demo.db")
    let session = try DatabaseSession(file: file, environment: .live)
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
    return file
  }

  /// The records of the demo lie one level below each collection, of messages two.
  private static func records(
    of json: JSONValue, at path: String, depth: Int
  ) -> [(key: String, json: String)] {
    let recordDepth = path.hasPrefix("/group_message") ? 3 : 2
    guard depth < recordDepth, let members = json.object else { return [(path, json.jsonText())] }
    return members.flatMap { records(of: $0.value, at: path + "/" + $0.name, depth: depth + 1) }
  }
}

extension JSONValue {
  fileprivate var object: [JSONMember]? {
    if case .object(let members) = self { members } else { nil }
  }
}

extension DatabaseEnvironment {
  /// The system's clock and random numbers.
  static var live: DatabaseEnvironment {
    DatabaseEnvironment(now: LocalTime.now, random: SystemRandomNumberGenerator())
  }
}
