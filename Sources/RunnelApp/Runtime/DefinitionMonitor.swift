import Foundation
import RunnelTerminal
import RunnelWorkspace

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
    /// Nil while there is no folder to watch.
    var watch: FileWatch?
    var text: String?

    /// Whether the file may have changed; a folder that took the place of the one watched is watched.
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

  /// Watches files, there or not.
  init(_ files: [File]) {
    watched = files.map { file in
      // Without its folder there is no file to hear of.
      Watched(
        file: file, watch: try? FileWatch(file: file.path), text: DefinitionMonitor.text(of: file))
    }
  }

  /// What to poll for reading.
  var fileDescriptors: [Int32] { watched.compactMap(\.watch?.fileDescriptor) }

  /// A file with another text than before.
  struct Change {
    var file: String
    /// What is wrong with it; nil if nothing is.
    var problem: String?
    /// What a views file without a mistake says; nil for another.
    var views: SavedViews?
  }

  /// The files with other texts than before.
  func changes() -> [Change] {
    var changes: [Change] = []
    for index in watched.indices where watched[index].hasNews() {
      let file = watched[index].file
      let text = DefinitionMonitor.text(of: file)
      // A file that is gone comes back, or says nothing.
      guard let text, text != watched[index].text else { continue }
      watched[index].text = text
      let views: SavedViews? = if case .views = file { SavedViews(text: text) } else { nil }
      changes.append(Change(file: file.path, problem: file.problem(in: text), views: views))
    }
    return changes
  }

  private static func text(of file: File) -> String? {
    // Who opened the workspace was told if it cannot be read.
    try? UserFile.text(of: file.path)
  }
}
