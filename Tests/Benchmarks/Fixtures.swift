import Foundation
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelDemo
import RunnelTree
import RunnelWorkspace

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

  /// Writes a text to a file; returns its path.
  func write(_ text: String, to name: String) throws -> String {
    let path = file(name)
    guard let file = fopen(path, "w") else { throw BenchmarkError.system("open \(path)") }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw BenchmarkError.system("write \(path)") }
    return path
  }

  /// Removes the folder with all that is in it.
  func remove() {
    // What cannot be removed is left: it is a temporary folder.
    try? FileManager.default.removeItem(atPath: path)
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

  /// How many messages there are.
  let messageCount: Int
  /// The beginning of the newest message's text.
  let newestText: String
  /// The beginning of the oldest message's text.
  let oldestText: String
  /// The database, without indexes.
  let database: String
  /// The views file.
  let viewsFile: String
  /// The messages as a text file, one on each line, as the list shows them.
  let textFile: String

  /// Makes the demo in a folder.
  init(messageCount: Int, in folder: TemporaryFolder) throws {
    let demo = DemoData(
      try DemoInput.texts(), seed: 1, messageCount: messageCount, endingAt: 1_788_111_900_000)
    self.messageCount = messageCount
    guard let views = ResourceFiles.path(of: "demo/demo.views.yaml") else {
      throw BenchmarkError("Resources/demo/demo.views.yaml was not found.")
    }
    viewsFile = views
    textFile = folder.file("messages.txt")
    (oldestText, newestText) = try DemoInput.writeLines(of: demo, to: textFile)
    database = folder.file("demo.db")
    var document: [UInt8] = []
    demo.write { document += $0 }
    let session = try DatabaseSession(file: database, environment: .live)
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
  }

  private static func texts() throws -> DemoTexts {
    guard let path = ResourceFiles.path(of: "demo/demo.texts.json") else {
      throw BenchmarkError("Resources/demo/demo.texts.json was not found.")
    }
    return try DemoTexts(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
  }

  /// Writes the messages as lines; returns what is looked for of the first and the last.
  private static func writeLines(
    of demo: DemoData, to path: String
  ) throws -> (oldest: String, newest: String) {
    guard let file = fopen(path, "w") else { throw BenchmarkError.system("open \(path)") }
    defer { fclose(file) }
    var oldest: String?
    var newest: String?
    try demo.forEachMessage { message in
      guard case .string(let text)? = message["text"], case .string(let from)? = message["from"],
        case .number(let created)? = message["created"], let time = created.integer
      else { throw BenchmarkError("A message of the demo lacks its text, sender or time.") }
      let name = from.padded(to: 10)
      guard fputs("     \(clock(time)) \(name) \(text)\n", file) >= 0 else {
        throw BenchmarkError.system("write \(path)")
      }
      oldest = oldest ?? text
      newest = text
    }
    guard let oldest, let newest else { throw BenchmarkError("The demo has no messages.") }
    return (visible(oldest), visible(newest))
  }

  /// The time of day as the list shows it.
  private static func clock(_ milliseconds: Int64) -> String {
    let time = CivilTime(milliseconds: milliseconds)
    let minute = time.minute < 10 ? "0\(time.minute)" : "\(time.minute)"
    return time.hour < 10 ? "0\(time.hour):\(minute)" : "\(time.hour):\(minute)"
  }

  private static func visible(_ text: String) -> String {
    String(text.prefix(visibleTextCount).prefix { $0.isASCII })
  }
}

extension String {
  /// The text with blanks behind it, at least so many characters long.
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(count - self.count, 0))
  }
}

extension DatabaseEnvironment {
  /// The system's clock and random numbers.
  static var live: DatabaseEnvironment {
    DatabaseEnvironment(now: LocalTime.now, random: SystemRandomNumberGenerator())
  }
}
