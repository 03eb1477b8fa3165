import ArgumentParser

/// A table of options of `runnel serve`.
protocol ServeOptionTable: Sendable {
  static var options: [ServeOption] { get }
}

/// The options of a table, as arguments of the command line.
///
/// The parser learns of a type's options by its mirror, and gives their values to its decoder. This
/// type's mirror and decoder use the table, so that no option is written down twice.
struct ServeOptionGroup<Table: ServeOptionTable>: ParsableArguments, CustomReflectable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
    init(_ option: ServeOption) { stringValue = option.name }
  }

  /// The values given, by option.
  private(set) var values: [String: ServeValue] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for option in Table.options {
      let key = Key(option)
      let texts: [String] =
        switch option.kind {
        case .flag:
          try container.decode(Flag<Bool>.self, forKey: key).wrappedValue ? ["true"] : []
        case .list: try container.decode(Option<[String]>.self, forKey: key).wrappedValue
        case .text, .file, .folder, .fileOrAddress:
          try container.decode(Option<String?>.self, forKey: key).wrappedValue.map { [$0] } ?? []
        }
      if texts.isEmpty { continue }
      values[option.name] = ServeValue(texts: texts, place: "--" + option.name)
    }
  }

  var customMirror: Mirror {
    Mirror(
      self, children: Table.options.map { ("_" + $0.name, ServeOptionGroup.argument(of: $0)) },
      displayStyle: .struct)
  }

  private static func argument(of option: ServeOption) -> Any {
    let name = NameSpecification.customLong(option.name)
    let help = ArgumentHelp(
      "\(option.help)", valueName: option.valueName.isEmpty ? nil : option.valueName)
    switch option.kind {
    case .flag: return Flag(wrappedValue: false, name: name, help: help)
    case .list: return Option(wrappedValue: [String](), name: name, help: help)
    case .file, .fileOrAddress: return Option<String?>(name: name, help: help, completion: .file())
    case .folder: return Option<String?>(name: name, help: help, completion: .directory)
    case .text: return Option<String?>(name: name, help: help)
    }
  }
}

enum ServingTable: ServeOptionTable {
  static let options = ServeOption.serving
}

enum AccessTable: ServeOptionTable {
  static let options = ServeOption.access
}

enum AccountTable: ServeOptionTable {
  static let options = ServeOption.accounts
}

enum BackupTable: ServeOptionTable {
  static let options = ServeOption.backups
}

enum LimitTable: ServeOptionTable {
  static let options = ServeOption.limits
}

enum LogTable: ServeOptionTable {
  static let options = ServeOption.log
}
