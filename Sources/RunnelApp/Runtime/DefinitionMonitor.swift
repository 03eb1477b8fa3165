import Foundation
import RunnelTerminal
import RunnelWorkspace

/// Watches the files that define what the workspace shows, and tells which were saved.
final class DefinitionMonitor {
  /// A file, by its kind.
  enum File {
    case views(String)
    case resources(String)

    var path: String {
      switch self {
      case .views(let path), .resources(let path): path
      }
    }

    /// Returns the error in a text of the file, or nil.
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
    /// The watch of the file's folder, or nil while the folder does not exist.
    var watch: FileWatch?
    var text: String?

    /// Returns whether the file may have changed; if its folder was replaced, watches the new
    /// folder.
    mutating func hasNews() -> Bool {
      guard let watch else {
        self.watch = try? FileWatch(file: file.path)
        return self.watch != nil
      }
      let hasNews = watch.drain()
      if watch.isGone { self.watch = try? FileWatch(file: file.path) }
      return hasNews
    }
  }

  private var watched: [Watched]

  /// Watches files, whether they exist or not.
  init(_ files: [File]) {
    watched = files.map { file in
      // Without its folder, the file cannot be watched.
      Watched(
        file: file, watch: try? FileWatch(file: file.path), text: DefinitionMonitor.text(of: file))
    }
  }

  /// The descriptors to poll for reading.
  var fileDescriptors: [Int32] { watched.compactMap(\.watch?.fileDescriptor) }

  /// A file whose text has changed.
  struct Change {
    var file: String
    /// The error in the file, or nil.
    var problem: String?
    /// The content of a views file without a mistake; nil for another file.
    var views: SavedViews?
  }

  /// Returns the files whose texts have changed since the last call.
  func changes() -> [Change] {
    var changes: [Change] = []
    for index in watched.indices where watched[index].hasNews() {
      let file = watched[index].file
      let text = DefinitionMonitor.text(of: file)
      // A missing file may come back; until then nothing is changed.
      guard let text, text != watched[index].text else { continue }
      watched[index].text = text
      let views: SavedViews? = if case .views = file { SavedViews(text: text) } else { nil }
      changes.append(Change(file: file.path, problem: file.problem(in: text), views: views))
    }
    return changes
  }

  private static func text(of file: File) -> String? {
    // An error of reading was reported when the workspace was opened.
    try? UserFile.text(of: file.path)
  }
}
