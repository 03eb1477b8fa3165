public import RunnelBase

/// Reads data files of the user, in YAML or JSON.
public enum DataFile {
  /// Returns the content of a file: JSON if its name ends in `.json`, otherwise YAML, of which JSON
  /// is a part.
  ///
  /// - Throws: `ConfigurationError` with the line of the mistake, if there is one.
  public static func json(of file: String) throws -> JSONValue {
    try json(text(of: file), file: file)
  }

  /// Returns the content of a file, and that of a member as JSON in which each name and value is in its line
  /// of the file, so that mistakes in it can be told with their lines; nil if there is no such member.
  ///
  /// - Throws: `ConfigurationError` with the line of the mistake, if there is one.
  public static func json(
    of file: String, linesOf member: String
  ) throws -> (json: JSONValue, lined: [UInt8]?) {
    let text = try text(of: file)
    let json = try json(text, file: file)
    if json[member] == nil { return (json, nil) }
    let object: YAMLObject?
    if file.hasSuffix(".json") {
      // JSON is YAML too, but for very unusual texts, whose lines cannot be told.
      object = try? YAMLObject(settings: text, file: file)
    } else {
      object = try YAMLObject(settings: text, file: file)
    }
    guard let object, let node = object.node(member) else { return (json, nil) }
    return (json, try LinedJSON(node, object).bytes)
  }

  private static func text(of file: String) throws -> String {
    do {
      return try UserFile.text(of: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The file cannot be read: \(error.fileReason)")
    }
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
