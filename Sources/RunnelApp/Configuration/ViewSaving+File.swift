import Foundation
import RunnelWorkspace

extension ViewSaving {
  /// Writes the view to the views file: over its entry there, as one more entry, or as a new file with all
  /// views.
  ///
  /// A file that is replaced is kept beside it, with a `~` behind its name.
  ///
  /// - Returns: the reason why the file was not written, or nil if it was.
  func write() -> String? {
    guard FileManager.default.fileExists(atPath: file) else {
      return FileContent.write(ViewText.file(all), to: file)
    }
    let text: String
    do {
      text = try UserFile.text(of: file)
    } catch {
      return "\(file) cannot be read: \(error.fileReason)"
    }
    let added = isNew ? ViewText.adding(view, to: text) : nil
    guard let new = ViewText.replacing(view, in: text) ?? added else {
      return isNew
        ? "\(file) has no list `views:` with lines for each view: the view was not saved"
        : "\(file) has no line `- name: \(view.name)`: the view was not saved"
    }
    do {
      _ = try ViewFile(yaml: new, name: file)
    } catch {
      return "\(file) would not be right with this view: \(error)"
    }
    return FileContent.write(text, to: file + "~") ?? FileContent.write(new, to: file)
  }
}
