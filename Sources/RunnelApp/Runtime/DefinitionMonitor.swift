import Foundation
import RunnelTerminal

/// The files that say what the workspace shows, and whether one was saved since it was opened.
final class DefinitionMonitor {
  /// A file, by what it is.
  enum File {
    case views(String)
    case resources(String)

    var path: String {
      switch self {
      case .views(let path), .resources(let path): path
      }
    }

    /// What is wrong with its text; nil if nothing is.
    func problem(in text: String) -> String? {
      do {
        switch self {
        case .views(let path): _ = try ViewFile(yaml: text, name: path)
        case .resources(let path): _ = try ResourceBook(yaml: text, name: path)
        }
        return nil
      } catch {
        return "\(error)"
      }
    }
  }

  private struct Watched {
    let file: File
    let watch: FileWatch
    var text: String?
  }

  private var watched: [Watched]

  /// Watches files, there or not, in folders that are there.
  init(_ files: [File]) {
    watched = files.compactMap { file in
      // Without its folder there is no file to hear of.
      guard let watch = try? FileWatch(file: file.path) else { return nil }
      return Watched(file: file, watch: watch, text: DefinitionMonitor.text(of: file))
    }
  }

  /// What to poll for reading.
  var fileDescriptors: [Int32] { watched.map(\.watch.fileDescriptor) }

  /// The files with other texts than before, and what is wrong with them.
  func changes() -> [(file: String, problem: String?)] {
    var changes: [(file: String, problem: String?)] = []
    for index in watched.indices where watched[index].watch.drain() {
      let file = watched[index].file
      let text = DefinitionMonitor.text(of: file)
      // A file that is gone comes back, or says nothing.
      guard let text, text != watched[index].text else { continue }
      watched[index].text = text
      changes.append((file.path, file.problem(in: text)))
    }
    return changes
  }

  private static func text(of file: File) -> String? {
    // Who opened the workspace was told if it cannot be read.
    try? String(contentsOfFile: file.path, encoding: .utf8)
  }
}
