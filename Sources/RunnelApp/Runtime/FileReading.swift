import Foundation
import Glibc
import RunnelBase
import RunnelWorkspace

/// One file that is read for an import: in pieces, on whatever thread it is told to.
///
/// `stop` may be called from another thread. Then nothing comes of it any more; a piece that is being
/// read, or a text whose records are being looked for, is finished first.
final class FileReading: Sendable {
  /// How it goes.
  enum Report: Sendable {
    case progress(Int, of: Int)
    case done(FileContent)
  }

  /// How many bytes are read at once.
  private static let pieceBytes = 1 << 18
  /// How many bytes are read between two reports.
  private static let reportBytes = 1 << 20

  /// Its number among those that were read here.
  let number: Int
  /// The file, as it was typed.
  let file: String
  private let texts: [String]
  /// A message in it stops the reading.
  private let stops = Inbox<Bool>(limit: 1) {}

  /// Prepares to read; `texts` are the fields that hold texts only.
  init(_ number: Int, file: String, texts: [String]) {
    self.number = number
    self.file = file
    self.texts = texts
  }

  /// Nothing comes of it any more.
  func stop() {
    // Once is enough.
    _ = stops.post(true)
  }

  /// Reads, and tells how that goes; the last report is what came of it, unless it was stopped.
  func run(_ report: (Report) -> Void) {
    do throws(ImportPlan.Unreadable) {
      guard let bytes = try readAll(report) else { return }
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
      guard let text = String(validating: content, as: UTF8.self) else {
        throw ImportPlan.Unreadable(message: "\(file) is no text in UTF-8")
      }
      let plan = try ImportPlan(text, as: ImportPlan.format(ofFile: file), texts: texts)
      if isStopped { return }
      report(.done(.records(plan, text: text)))
    } catch {
      report(.done(.failed(error.message)))
    }
  }

  private var isStopped: Bool {
    guard let wasAsked = stops.drain().first else { return false }
    // It is stopped for good.
    _ = stops.post(wasAsked)
    return true
  }

  /// The bytes of the file; nil if the reading was stopped.
  private func readAll(_ report: (Report) -> Void) throws(ImportPlan.Unreadable) -> [UInt8]? {
    let path = ExportRunner.expanded(file)
    // A pipe that nobody writes to must not keep the thread.
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
      message: "\(path) has more than \(ImportPlan.bytesMax >> 20) MB: `runnel import` takes it")
  }

  private func unreadable(_ path: String) -> ImportPlan.Unreadable {
    ImportPlan.Unreadable(message: "\(path) cannot be read: \(String(cString: strerror(errno)))")
  }
}
