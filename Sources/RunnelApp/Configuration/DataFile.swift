public import RunnelBase

/// Reads data files of the user, in YAML or JSON.
public enum DataFile {
  /// Returns the content of a file: JSON if its name ends in `.json`, otherwise YAML, of which JSON
  /// is a part.
  ///
  /// - Throws: `ConfigurationError` with the line of the mistake, if there is one.
  public static func json(of file: String) throws -> JSONValue {
    let text: String
    do {
      text = try UserFile.text(of: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The file cannot be read: \(error.fileReason)")
    }
    return try json(text, file: file)
  }

  /// Returns the content of a text, in the format of the file's name.
  static func json(_ text: String, file: String) throws -> JSONValue {
    if file.hasSuffix(".json") {
      do throws(JSONError) {
        return try JSONValue(parsing: text)
      } catch {
        throw ConfigurationError(
          file: file, line: error.line, "This is not JSON: \(error.message).")
      }
    }
    guard let object = try YAMLObject(settings: text, file: file) else {
      throw ConfigurationError(file: file, line: 1, "The file is empty.")
    }
    return .object(
      try object.members.map { JSONMember($0.name, try object.json($0.value)) })
  }
}
