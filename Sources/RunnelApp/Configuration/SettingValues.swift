import RunnelBase
import Foundation
import Yams

/// The settings of a YAML file for which the caller gives the names: each is a text or a list of
/// texts.
public struct SettingValues: Sendable {
  /// A setting.
  public struct Setting: Hashable, Sendable {
    /// The name of the setting.
    public var name: String
    /// The values, each as it is written.
    public var texts: [String]
    /// The place of the setting, for messages: `serve.yaml:3`.
    public var place: String
  }

  /// The greatest size of a file in bytes.
  static let bytesMax = 1 << 16

  /// The settings in the order of the file.
  public let settings: [Setting]

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - names: the names of settings that the file may have.
  /// - Throws: `ConfigurationError` with the line of the first mistake.
  public init(file: String, names: [String]) throws(ConfigurationError) {
    let yaml: String
    do {
      yaml = try UserFile.text(of: file, bytesMax: SettingValues.bytesMax)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The file cannot be read: \(error.fileReason)")
    }
    try self.init(yaml: yaml, file: file, names: names)
  }

  /// Parses the text of a file; see `init(file:names:)`.
  init(yaml: String, file: String, names: [String]) throws(ConfigurationError) {
    do {
      guard let object = try YAMLObject(settings: yaml, file: file) else {
        settings = []
        return
      }
      settings = try object.members.map { member in
        guard names.contains(member.name) else {
          throw object.error(
            "`\(member.name)` is not known here" + Spelling.advice(for: member.name, among: names),
            at: member.name)
        }
        let texts =
          try member.value.sequence.map { try $0.map(object.text) } ?? [object.text(member.value)]
        let line = member.line.map { ":\($0)" } ?? ""
        return Setting(name: member.name, texts: texts, place: file + line)
      }
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(file: file, line: nil, "\(error)")
    }
  }
}
