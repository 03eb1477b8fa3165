import Foundation
import RunnelStreams
import RunnelWorkspace

extension ResourceBook {
  /// Reads a resources file.
  ///
  /// - Throws: `ConfigurationError` if the file cannot be read or has a mistake.
  init(file: String) throws {
    let text: String
    do {
      text = try UserFile.text(of: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The resources file cannot be read: \(error.fileReason)")
    }
    try self.init(yaml: text, name: file)
  }

  /// Parses the text of a resources file.
  ///
  /// - Throws: `ConfigurationError` if the text has a mistake.
  init(yaml: String, name: String) throws {
    let registry = try ResourceDefinitionFile(yaml: yaml, name: name).registry
    self.init(registry, source: yaml)
  }
}
