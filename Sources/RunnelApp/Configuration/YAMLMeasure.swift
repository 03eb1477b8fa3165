import CYaml

/// Measures a YAML file with its aliases expanded, before it is loaded.
///
/// An alias stands for all values of its anchor, and an anchor can contain aliases: ten levels of
/// ten are ten thousand million values. The size of each anchor is computed from the parser's
/// events, and the first event beyond a limit is refused. O(n) in the events, regardless of the
/// expanded size.
struct YAMLMeasure: ~Copyable {
  /// The greatest size of a file in bytes.
  static let bytesMax = 4 << 20
  /// The greatest number of values and names, with aliases expanded.
  static let nodesMax = 100_000
  /// The greatest depth of nested lists and mappings, with aliases expanded.
  static let depthMax = 64
  /// The greatest number of aliases.
  static let aliasesMax = 1000

  /// The size of the value of an anchor.
  private struct Size {
    var nodes = 1
    /// The number of nested levels of lists and mappings; 0 for a scalar.
    var height = 0
  }

  /// A list or mapping that is being read.
  private struct Container {
    var size = Size(nodes: 1, height: 1)
    let anchor: String?
    let isMapping: Bool
    var childCount = 0
  }

  private let file: String
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private var open: [Container] = []
  private var anchors: [String: Size] = [:]
  private var nodeCount = 0
  private var aliasCount = 0

  private init(file: String) {
    self.file = file
    parser = .allocate(capacity: 1)
    // It can only fail for lack of memory, and then the first event fails too.
    _ = yaml_parser_initialize(parser)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// Checks the text of a file against all limits.
  ///
  /// Text that is not YAML passes: the reader of the file reports it.
  ///
  /// - Throws: `ConfigurationError` with the line at which a limit is exceeded.
  static func check(_ yaml: String, file: String) throws {
    if yaml.utf8.count > bytesMax { throw UserFile.tooLong(file) }
    // The parser does not accept an empty text.
    if yaml.isEmpty { return }
    var measure = YAMLMeasure(file: file)
    var yaml = yaml
    try yaml.withUTF8 { bytes in
      yaml_parser_set_encoding(measure.parser, YAML_UTF8_ENCODING)
      yaml_parser_set_input_string(measure.parser, bytes.baseAddress, bytes.count)
      try measure.readAll()
    }
  }

  private mutating func readAll() throws {
    var event = yaml_event_t()
    while yaml_parser_parse(parser, &event) == 1 {
      defer { yaml_event_delete(&event) }
      if event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT { return }
      try read(event)
    }
  }

  private mutating func read(_ event: yaml_event_t) throws {
    let line = Int(event.start_mark.line) + 1
    switch event.type {
    case YAML_ALIAS_EVENT:
      aliasCount += 1
      if aliasCount > YAMLMeasure.aliasesMax {
        throw tooMuch(line, "more than \(YAMLMeasure.aliasesMax) aliases")
      }
      // The reader of the file refuses an unknown anchor.
      let size = text(event.data.alias.anchor).flatMap { anchors[$0] } ?? Size()
      try add(size, at: line)
    case YAML_SCALAR_EVENT:
      try add(Size(), at: line)
      if let anchor = text(event.data.scalar.anchor) { anchors[anchor] = Size() }
    case YAML_SEQUENCE_START_EVENT:
      try begin(text(event.data.sequence_start.anchor), isMapping: false, at: line)
    case YAML_MAPPING_START_EVENT:
      try begin(text(event.data.mapping_start.anchor), isMapping: true, at: line)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: end()
    default: break
    }
  }

  private mutating func begin(_ anchor: String?, isMapping: Bool, at line: Int) throws {
    let size = Size(nodes: 1, height: 1)
    try check(size, at: line)
    nodeCount += 1
    open.append(Container(size: size, anchor: anchor, isMapping: isMapping))
  }

  private mutating func end() {
    guard let container = open.popLast() else { return }
    if let anchor = container.anchor { anchors[anchor] = container.size }
    count(container.size)
  }

  private mutating func add(_ size: Size, at line: Int) throws {
    try check(size, at: line)
    nodeCount += size.nodes
    count(size)
  }

  /// Adds a value to the innermost list or mapping.
  private mutating func count(_ size: Size) {
    guard let last = open.indices.last else { return }
    open[last].size.nodes += size.nodes
    open[last].size.height = max(open[last].size.height, size.height + 1)
    open[last].childCount += 1
  }

  private func check(_ size: Size, at line: Int) throws {
    if let last = open.last, last.isMapping, last.childCount % 2 == 0, size.height > 0 {
      throw ConfigurationError(
        file: file, line: line, "A name is expected here, and not a list or a mapping.")
    }
    if nodeCount + size.nodes > YAMLMeasure.nodesMax {
      throw tooMuch(line, "more than \(YAMLMeasure.nodesMax) values")
    }
    if open.count + size.height > YAMLMeasure.depthMax {
      throw tooMuch(line, "lists and mappings more than \(YAMLMeasure.depthMax) levels deep")
    }
  }

  private func tooMuch(_ line: Int, _ what: String) -> ConfigurationError {
    let aliases = aliasCount == 0 ? "" : ", with the aliases written out"
    return ConfigurationError(
      file: file, line: line, "Here the file has \(what)\(aliases): make it smaller.")
  }

  private func text(_ pointer: UnsafePointer<UInt8>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}
