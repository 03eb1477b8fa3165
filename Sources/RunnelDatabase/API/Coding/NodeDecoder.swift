import Foundation
import RunnelBase
public import RunnelTree

/// Reads Swift values from nodes: the opposite of `NodeEncoder`.
///
/// - If nothing is stored, an optional is nil, and an array or a dictionary is empty: the tree
///   stores nothing empty, so empty values are read as they were written.
/// - An array is read from children whose keys are whole numbers, if the greatest is less than 1,000 or
///   less than twice their number; a gap is nil, or an empty array or dictionary.
/// - Integers are exact: a number with a fraction, or out of the type's range, is a mismatch.
/// - A `JSONValue` is read in the export format, with priorities; nothing there is null.
/// - The coding key `.priority` reads a node's priority.
/// - Keys that differ only in how a letter is spelled (`é` as one character or two) are two children, but
///   one text in Swift: a type that takes both is a mismatch. So are `0` and `00` for whole numbers.
public struct NodeDecoder: Hashable, Sendable {
  /// The format in which dates are read.
  public var dates: DateCoding

  /// Makes a decoder.
  public init(dates: DateCoding = .milliseconds) { self.dates = dates }

  /// Decodes a value from a node.
  ///
  /// - Parameters:
  ///   - type: the type.
  ///   - node: the node.
  ///   - path: the place of the node, which errors name.
  /// - Returns: the value.
  /// - Throws: `DataCodingError` with the place that does not fit, and the type expected there.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from node: Node, at path: Path = .root
  ) throws(DataCodingError) -> Value {
    do {
      return try NodeDecoding(node: node, codingPath: [], options: self).value(type)
    } catch {
      throw DataCodingError(error, place: path, type: type)
    }
  }
}

/// Decodes one value from its node.
struct NodeDecoding: JSONValueDecoder {
  let node: Node
  let codingPath: [any CodingKey]
  let options: NodeDecoder
  /// True if a dictionary is read that Swift writes as keys and values in turn.
  var hasPairs = false

  var userInfo: [CodingUserInfoKey: Any] { [:] }
  /// The node in the export format.
  var json: JSONValue { node.exportJSON }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if node.leaf != nil, node.priority == nil || !takesPartsOfLeaf(type) {
      throw mismatch([String: Any].self)
    }
    try checkNames(type)
    return KeyedDecodingContainer(KeyedNodeDecoding<Key>(decoding: self))
  }

  /// True if a type names the value or the priority among its members, which a leaf with a priority has.
  ///
  /// A dictionary takes any name, and would be empty.
  private func takesPartsOfLeaf<Key: CodingKey>(_ type: Key.Type) -> Bool {
    let isNamed = [ReservedName.value, ReservedName.priority].contains {
      Key(stringValue: $0) != nil
    }
    return isNamed && Key(stringValue: ".") == nil
  }

  /// Throws if two children that the type takes have names that Swift's texts do not tell apart, since a
  /// dictionary would have only one of them.
  private func checkNames<Key: CodingKey>(_ type: Key.Type) throws {
    var names: Set<String> = []
    for child in node.children {
      let name = child.key.text
      if name.utf8.allSatisfy({ $0 < 0x80 }) || Key(stringValue: name) == nil { continue }
      if names.insert(name).inserted { continue }
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription:
            "two children are called \"\(name)\" in different spellings, which Swift "
            + "takes for one; `children(as:)` reads both"))
    }
  }

  /// Throws if two children have names of one whole number, since a dictionary would have only one of them.
  private func checkIntegers() throws {
    var names: [Int: String] = [:]
    for child in node.children {
      let name = child.key.text
      guard let number = Int(name) else { continue }
      guard let other = names.updateValue(name, forKey: number) else { continue }
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "two children, \"\(other)\" and \"\(name)\", are one whole number"))
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard var elements = node.elements else { throw mismatch([Any].self, advice: listAdvice) }
    // The last value holds nothing, so nothing is stored of it.
    if hasPairs, !elements.count.isMultiple(of: 2) { elements.append(.empty) }
    return UnkeyedNodeDecoding(decoding: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleNodeDecoding(decoding: self)
  }
}

// MARK: Values

extension NodeDecoding {
  /// The decoding of the node below a coding key.
  func below(_ key: any CodingKey, _ node: Node) -> NodeDecoding {
    NodeDecoding(node: node, codingPath: codingPath + [key], options: options)
  }

  /// The node of a coding key; empty if the name is not a valid key.
  func node(for key: any CodingKey) -> Node {
    switch key.stringValue {
    case ReservedName.priority: return node.priority.map { Node($0) } ?? .empty
    case ReservedName.value: return node.leaf.map { Node($0) } ?? .empty
    case let name:
      // Nothing can be stored under an invalid key.
      guard let key = try? Key(name) else { return .empty }
      return node[key]
    }
  }

  /// Decodes a value of any type.
  ///
  /// A misfit at this place itself is reported with the whole type, not with the part that was
  /// being read.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let special = try special(type) { return special }
    do {
      if type is any IntegerKeyed.Type { try checkIntegers() }
      var decoding = self
      decoding.hasPairs = (type as? any PairedDictionary.Type)?.hasPairs == true
      return try Value(from: decoding)
    } catch is DecodingError where node.isEmpty {
      throw missing(type)
    } catch DecodingError.typeMismatch(_, let context) where isHere(context) {
      throw DecodingError.typeMismatch(type, context)
    } catch DecodingError.dataCorrupted(let context) where isHere(context) {
      throw DecodingError.typeMismatch(type, context)
    }
  }

  /// The value of a type with a coding of its own; nil for every other type.
  private func special<Value>(_ type: Value.Type) throws -> Value? {
    switch type {
    case is Date.Type:
      guard let leaf = node.leaf else { throw mismatch(type) }
      guard let date = options.dates.date(leaf) else { throw mismatch(type) }
      return date as? Value
    case is Data.Type:
      guard let data = Data(base64Encoded: try text(for: type)) else { throw mismatch(type) }
      return data as? Value
    case is URL.Type:
      guard let url = URL(string: try text(for: type)) else { throw mismatch(type) }
      return url as? Value
    case is Decimal.Type:
      // Older versions stored the parts of a decimal number, which it reads itself.
      guard case .number(let number)? = node.leaf else { return nil }
      return Decimal(number) as? Value
    case is Duration.Type:
      let halves = (node.elements ?? []).compactMap { half in
        if case .number(let number)? = half.leaf { number.integer } else { nil as Int64? }
      }
      guard halves.count == 2, node.children.count == 2 else { throw mismatch(type) }
      return Duration(high: halves[0], low: halves[1]) as? Value
    default: return nil
    }
  }

  func bool() throws -> Bool {
    guard case .bool(let value)? = node.leaf else { throw mismatch(Bool.self) }
    return value
  }

  func string() throws -> String { try text(for: String.self) }

  func double() throws -> Double { try number(for: Double.self).double }

  func float() throws -> Float {
    let value = Float(try number(for: Float.self).double)
    if !value.isFinite { throw mismatch(Float.self) }
    return value
  }

  func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    guard let integer = try number(for: type).integer, let value = Value(exactly: integer) else {
      throw mismatch(type)
    }
    return value
  }

  private func text(for type: Any.Type) throws -> String {
    guard case .string(let text)? = node.leaf else { throw mismatch(type) }
    return text
  }

  private func number(for type: Any.Type) throws -> JSONNumber {
    guard case .number(let number)? = node.leaf else { throw mismatch(type) }
    return number
  }
}

extension Decimal {
  /// The decimal number with the shortest digits for a number.
  init?(_ number: JSONNumber) {
    if let integer = number.integer {
      self.init(integer)
    } else {
      self.init(string: "\(number.double)")
    }
  }
}

/// A dictionary whose keys are whole numbers, which Swift reads from texts: `0`, and also `00` and `+0`.
private protocol IntegerKeyed {}
extension Dictionary: IntegerKeyed where Key == Int {}

// MARK: Errors

extension NodeDecoding {
  func missing(_ type: Any.Type) -> DecodingError {
    DecodingError.valueNotFound(
      type, DecodingError.Context(codingPath: codingPath, debugDescription: "nothing is there"))
  }

  func mismatch(_ type: Any.Type, advice: String = "") -> DecodingError {
    if node.isEmpty { return missing(type) }
    return DecodingError.typeMismatch(
      type,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "\(node.shortDescription) is there\(advice)"))
  }

  /// The way to read children as a list, to follow the reason why they are no array.
  private var listAdvice: String {
    guard codingPath.isEmpty, case .children = node.content else { return "" }
    return "; `children(as:)` reads children in their order, and `changes(as:)` follows them"
  }

  /// True if an error is about the value itself, and not about a part of it.
  private func isHere(_ context: DecodingError.Context) -> Bool {
    context.codingPath.count <= codingPath.count
  }
}

extension Node {
  /// The elements, if the node is an array by the rule of section 3.2; a gap is an empty node.
  fileprivate var elements: [Node]? {
    if leaf != nil { return nil }
    var maximum = -1
    for child in children {
      guard let index = child.key.integer, index >= 0, child.key.text == String(index) else {
        return nil
      }
      maximum = max(maximum, Int(index))
    }
    guard SparseArray.isReadable(greatest: maximum, count: children.count) else { return nil }
    var elements = [Node](repeating: .empty, count: maximum + 1)
    for child in children {
      if let index = child.key.integer { elements[Int(index)] = child.node }
    }
    return elements
  }

  /// The kind of node, for a message.
  fileprivate var shortDescription: String {
    switch content {
    case .empty: "nothing"
    case .leaf(.bool(let value)): "\(value)"
    case .leaf(.number(let value)): "the number \(JSONValue.number(value).jsonText())"
    case .leaf(.string(let text)):
      "the string \"\(text.prefix(40))\(text.dropFirst(40).isEmpty ? "" : "...")\""
    case .children(let children):
      "an object of \(children.count) \(children.count == 1 ? "child" : "children")"
    }
  }
}

/// A dictionary, which Swift writes as an array of keys and values in turn if its keys are no texts and no
/// whole numbers.
private protocol PairedDictionary {
  static var hasPairs: Bool { get }
}

extension Dictionary: PairedDictionary {
  fileprivate static var hasPairs: Bool {
    Key.self != String.self && Key.self != Int.self
      && !(Key.self is any CodingKeyRepresentable.Type)
  }
}
