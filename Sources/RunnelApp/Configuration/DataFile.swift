public import RunnelBase

/// Files of data that the user writes, in YAML or JSON.
public enum DataFile {
  /// What stands in a file: JSON if its name ends in `.json`, else YAML, of which JSON is a part.
  ///
  /// - Throws: `ConfigurationError` with the line of what is wrong, where there is one.
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

  /// The JSON of a text.
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
