public import RunnelBase

/// An entry of an action log: one line of text.
///
/// ```
/// {"log":"runnel actions","version":1}
/// {"n":1,"ms":1788111900000,"kind":"counter/add","action":{"by":2}}
/// {"n":2,"ms":1788111900412,"type":"LogIn"}
/// ```
///
/// The second entry is of an action that cannot be written or that holds a `Secret`: the log has
/// only the name of its type.
public struct LoggedAction: Hashable, Sendable {
  /// The logged content of an action.
  public enum Content: Hashable, Sendable {
    /// Its kind and all of its content.
    case action(kind: String, JSONValue)
    /// The name of its type; the content is withheld.
    case withheld(type: String)
  }

  /// The number of the action, from 1.
  public var number: Int
  /// The time at which the action was reduced, in milliseconds since 1970.
  public var milliseconds: Int64
  /// The logged content.
  public var content: Content

  /// Makes an entry from its parts.
  public init(number: Int, milliseconds: Int64, content: Content) {
    self.number = number
    self.milliseconds = milliseconds
    self.content = content
  }

  /// Makes the entry of an action.
  ///
  /// The content is withheld if the action cannot be written, or holds a secret anywhere. O(n) in the
  /// content, by reflection.
  public init(number: Int, milliseconds: Int64, action: any Action) {
    self.init(number: number, milliseconds: milliseconds, content: Content(action))
  }
}

extension LoggedAction.Content {
  fileprivate init(_ action: any Action) {
    self = .withheld(type: String(describing: type(of: action)))
    guard let loggable = action as? any LoggableAction, !holdsSecret(action) else { return }
    // An action that cannot be written is withheld, as `LoggableAction` says.
    if let json = try? loggable.json() {
      self = .action(kind: type(of: loggable).kind, json)
    }
  }
}

// MARK: Lines

/// The names of the members of a line.
enum ActionLogName {
  static let log = "log"
  static let logValue = "runnel actions"
  static let version = "version"
  static let number = "n"
  static let milliseconds = "ms"
  static let kind = "kind"
  static let action = "action"
  static let type = "type"
}

extension LoggedAction {
  /// The entry as one line of JSON, without its line feed.
  public var line: String {
    var members = [
      JSONMember(ActionLogName.number, .number(JSONNumber(Int64(number)))),
      JSONMember(ActionLogName.milliseconds, .number(JSONNumber(milliseconds))),
    ]
    switch content {
    case .action(let kind, let json):
      members.append(JSONMember(ActionLogName.kind, .string(kind)))
      members.append(JSONMember(ActionLogName.action, json))
    case .withheld(let type): members.append(JSONMember(ActionLogName.type, .string(type)))
    }
    return JSONValue.object(members).jsonText()
  }

  /// Reads a line.
  ///
  /// - Throws: `ActionLogError` (`malformed`) that says what is wrong.
  public init(line: some StringProtocol) throws(ActionLogError) {
    let fields = try ActionFields(line: line)
    do {
      number = try fields.int(ActionLogName.number)
      milliseconds = try fields.int64(ActionLogName.milliseconds)
      if fields.json[ActionLogName.kind] != nil {
        content = .action(
          kind: try fields.string(ActionLogName.kind), try fields.value(ActionLogName.action))
      } else {
        content = .withheld(type: try fields.string(ActionLogName.type))
      }
    } catch {
      throw ActionLogError(.malformed, "This is no entry: \(error)")
    }
  }
}

/// The members of an object that is being read.
struct ActionFields {
  let json: JSONValue

  init(_ json: JSONValue) { self.json = json }

  init(line: some StringProtocol) throws(ActionLogError) {
    do {
      json = try JSONValue(parsing: String(line))
    } catch {
      throw ActionLogError(.malformed, "This is no JSON: \(error)")
    }
  }

  func value(_ name: String) throws(ActionLogError) -> JSONValue {
    if let value = json[name] { return value }
    throw ActionLogError(.malformed, "\"\(name)\" is missing.")
  }

  func string(_ name: String) throws(ActionLogError) -> String {
    guard case .string(let text) = try value(name) else { throw misfit(name, "a string") }
    return text
  }

  func bool(_ name: String) throws(ActionLogError) -> Bool {
    guard case .bool(let value) = try value(name) else { throw misfit(name, "true or false") }
    return value
  }

  func int64(_ name: String) throws(ActionLogError) -> Int64 {
    guard case .number(let number) = try value(name), let integer = number.integer else {
      throw misfit(name, "a whole number")
    }
    return integer
  }

  func int(_ name: String) throws(ActionLogError) -> Int {
    guard let value = Int(exactly: try int64(name)) else { throw misfit(name, "a whole number") }
    return value
  }

  func array(_ name: String) throws(ActionLogError) -> [JSONValue] {
    guard case .array(let elements) = try value(name) else { throw misfit(name, "an array") }
    return elements
  }

  func misfit(_ name: String, _ expected: String) -> ActionLogError {
    ActionLogError(.malformed, "\"\(name)\" is not \(expected).")
  }
}
