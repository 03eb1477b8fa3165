import Foundation
import RunnelStreams
import RunnelWorkspace

extension ResourceBook {
  /// Reads a resources file.
  ///
  /// - Throws: `ConfigurationError` if it cannot be read, or there is a mistake in it.
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

  /// Reads the text of a resources file.
  ///
  /// - Throws: `ConfigurationError` if there is a mistake in it.
  init(yaml: String, name: String) throws {
    let registry = try ResourceDefinitionFile(yaml: yaml, name: name).registry
    self.init(registry, source: yaml)
  }
}
