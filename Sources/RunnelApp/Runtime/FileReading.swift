import Foundation
import Glibc
import RunnelBase
import RunnelTree
import RunnelWorkspace

/// Reads a file for an import, in pieces, on the thread that runs it.
///
/// `stop` may be called from another thread. After it, there are no more reports; a piece being
/// read, or a text being parsed, is finished first.
final class FileReading: Sendable {
  /// The progress or the result.
  enum Report: Sendable {
    case progress(Int, of: Int)
    case done(FileContent)
  }

  /// The number of bytes read at once.
  private static let pieceBytes = 1 << 18
  /// The number of bytes read between two reports.
  private static let reportBytes = 1 << 20

  /// The number of the read, which identifies its reports.
  let number: Int
  /// The name of the file, as typed.
  let file: String
  private let texts: [String]
  private let nested: [Path]
  /// A message in this inbox stops the read.
  private let stops = Inbox<Bool>(limit: 1) {}

  /// Prepares a read; `texts` are the fields that hold only texts, `nested` those within others.
  init(_ number: Int, file: String, texts: [String], nested: [Path] = []) {
    self.number = number
    self.file = file
    self.texts = texts
    self.nested = nested
  }

  /// Stops the read; there are no more reports.
  func stop() {
    // One message is enough.
    _ = stops.post(true)
  }

  /// Reads the file, and reports its progress; the last report is the result, unless the read was
  /// stopped.
  func run(_ report: (Report) -> Void) {
    do throws(ImportPlan.Unreadable) {
      guard let bytes = try readAll(report) else { return }
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
      guard let text = String(validating: content, as: UTF8.self) else {
        throw ImportPlan.Unreadable(message: "\(file) is no text in UTF-8")
      }
      let plan = try ImportPlan(
        text, as: ImportPlan.format(ofFile: file), texts: texts, nested: nested)
      if isStopped { return }
      report(.done(.records(plan, text: text)))
    } catch {
      report(.done(.failed(error.message)))
    }
  }

  private var isStopped: Bool {
    guard let wasAsked = stops.drain().first else { return false }
    // The message is put back, so that the read stays stopped.
    _ = stops.post(wasAsked)
    return true
  }

  /// Returns the bytes of the file, or nil if the read was stopped.
  private func readAll(_ report: (Report) -> Void) throws(ImportPlan.Unreadable) -> [UInt8]? {
    let path = ExportRunner.expanded(file)
    // A pipe without a writer must not block the thread.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadable(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ImportPlan.Unreadable(message: "\(path) is no file")
    }
    let size = Int(status.st_size)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: FileReading.pieceBytes)
    var told = 0
    while size <= ImportPlan.bytesMax, bytes.count <= ImportPlan.bytesMax {
      if isStopped { return nil }
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw unreadable(path) }
      bytes += piece[..<count]
      if count == 0 || bytes.count - told >= FileReading.reportBytes {
        told = bytes.count
        report(.progress(bytes.count, of: max(size, bytes.count)))
      }
      if count == 0 { return bytes }
    }
    throw ImportPlan.Unreadable(
      message: "\(path) has more than \(ImportPlan.bytesMax >> 20) MB: "
        + FileReading.otherWay(for: path))
  }

  /// What takes a larger file.
  private static func otherWay(for path: String) -> String {
    switch ImportPlan.format(ofFile: path) {
    case .json, nil: "`runnel import` takes JSON of any size"
    case .jsonl: "`runnel push PLACE --lines` takes lines of any number"
    case .csv: "divide it; lines of JSON may be of any number, with `runnel push PLACE --lines`"
    }
  }

  private func unreadable(_ path: String) -> ImportPlan.Unreadable {
    ImportPlan.Unreadable(message: "\(path) cannot be read: \(String(cString: strerror(errno)))")
  }
}
