import Foundation
public import RunnelBase
public import RunnelTree

/// Writes Swift values as nodes.
///
/// - Keys become children; arrays become children named `0`, `1`, `2`. Nil is omitted unless `nils`
///   says otherwise, and so are empty arrays and dictionaries: the tree stores nothing empty.
/// - Integers are exact; one beyond Int64 is refused. Numbers that are not finite are refused.
/// - Dates are written as `dates` says, `Data` in base 64, `URL` as text, `Decimal` as a number; a
///   `Decimal` with more digits than a number keeps is refused.
/// - A `Duration` is written as an array of two integers: the upper and the lower 64 bits of its
///   attoseconds, each as a signed number.
/// - A case of an enum that has no values is refused, unless the enum has raw values or a coding of
///   its own: Swift writes it as an empty object.
/// - The coding keys `.priority` and `.value` have the same meaning as in JSON.
public struct NodeEncoder: Hashable, Sendable {
  /// The format in which dates are written.
  public var dates: DateCoding
  /// The way in which nil properties are written.
  public var nils: NilCoding

  /// Makes an encoder.
  public init(dates: DateCoding = .milliseconds, nils: NilCoding = .absent) {
    self.dates = dates
    self.nils = nils
  }

  /// The JSON for a value; it may contain server values.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - path: the place of the value, which errors name.
  /// - Returns: JSON in the export format, except that it may contain arrays.
  /// - Throws: `DataCodingError` (`notEncodable`) with the place of the part that cannot be
  ///   written.
  public func json<Value: Encodable>(
    _ value: Value, at path: Path = .root
  ) throws(DataCodingError) -> JSONValue {
    let slot = EncodingSlot()
    do {
      try NodeEncoding(slot: slot, codingPath: [], options: self).encode(value)
    } catch {
      throw DataCodingError(error, place: path, type: Value.self)
    }
    do throws(SparseArray) {
      return try slot.json()
    } catch {
      throw DataCodingError(
        .notEncodable, path: error.place(below: path), type: Value.self, reason: error.reason)
    }
  }

  /// The node for a value.
  ///
  /// - Parameters:
  ///   - value: the value; server values in it are refused, since they are not resolved yet.
  ///   - path: the place of the value, which errors name.
  /// - Returns: the node.
  /// - Throws: `DataCodingError` (`notEncodable`) with the place of the part that the tree refuses.
  public func encode<Value: Encodable>(
    _ value: Value, at path: Path = .root
  ) throws(DataCodingError) -> Node {
    let json = try json(value, at: path)
    do throws(TreeError) {
      return try Node(json: json, at: path)
    } catch {
      throw DataCodingError(
        .notEncodable, path: error.path ?? path.description, type: Value.self,
        reason: error.message)
    }
  }
}

/// A slot in a value that is being encoded; containers fill it.
final class EncodingSlot {
  enum Content {
    case json(JSONValue)
    case elements([EncodingSlot])
    case members([(name: String, slot: EncodingSlot)])
  }

  var content = Content.json(.null)
  private var indexes: [String: Int] = [:]

  /// The JSON of the slot and all in it.
  ///
  /// - Throws: `SparseArray` if there is an array that could not be read again.
  func json() throws(SparseArray) -> JSONValue {
    switch content {
    case .json(let json): return json
    case .elements(let slots):
      var elements: [JSONValue] = []
      elements.reserveCapacity(slots.count)
      for (index, slot) in slots.enumerated() {
        elements.append(try slot.json(below: String(index)))
      }
      try SparseArray.check(elements)
      return .array(elements)
    case .members(let members):
      var result: [JSONMember] = []
      result.reserveCapacity(members.count)
      for (name, slot) in members {
        result.append(JSONMember(name, try slot.json(below: name)))
      }
      return .object(result)
    }
  }

  private func json(below name: String) throws(SparseArray) -> JSONValue {
    do throws(SparseArray) {
      return try json()
    } catch {
      throw error.within(name)
    }
  }

  /// Makes the slot an object, unless it is one.
  func becomeObject() {
    if case .members = content { return }
    content = .members([])
    indexes = [:]
  }

  /// Makes the slot an array, unless it is one.
  func becomeArray() {
    if case .elements = content { return }
    content = .elements([])
  }

  /// The slot of a member, which is made if it does not exist.
  func member(_ name: String) -> EncodingSlot {
    becomeObject()
    guard case .members(var members) = content else { return EncodingSlot() }
    if let index = indexes[name] { return members[index].slot }
    let slot = EncodingSlot()
    indexes[name] = members.count
    // Releases the other reference to the array, so that it is changed in place.
    content = .json(.null)
    members.append((name, slot))
    content = .members(members)
    return slot
  }

  /// The slot of a new element at the end.
  func nextElement() -> EncodingSlot {
    becomeArray()
    guard case .elements(var slots) = content else { return EncodingSlot() }
    let slot = EncodingSlot()
    content = .json(.null)
    slots.append(slot)
    content = .elements(slots)
    return slot
  }

  /// True if nothing would be stored.
  ///
  /// It ends at the first value that would be.
  var isEmpty: Bool {
    switch content {
    case .json(let json): json.isEmptyNode
    case .elements(let slots): slots.allSatisfy(\.isEmpty)
    case .members(let members): members.allSatisfy { $0.slot.isEmpty }
    }
  }

  /// The name of the only member, if nothing is in it; nil otherwise.
  var emptyMember: String? {
    guard case .members(let members) = content, members.count == 1, isEmpty else { return nil }
    return members[0].name
  }

  var elementCount: Int {
    if case .elements(let slots) = content { slots.count } else { 0 }
  }
}

extension JSONValue {
  /// True if nothing would be stored.
  var isEmptyNode: Bool {
    switch self {
    case .null: true
    case .bool, .number, .string: false
    case .array(let elements): elements.allSatisfy(\.isEmptyNode)
    case .object(let members): members.allSatisfy(\.value.isEmptyNode)
    }
  }
}

/// Encodes one value into its slot.
struct NodeEncoding: JSONValueEncoder {
  let slot: EncodingSlot
  let codingPath: [any CodingKey]
  let options: NodeEncoder

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.becomeObject()
    return KeyedEncodingContainer(KeyedNodeEncoding<Key>(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.becomeArray()
    return UnkeyedNodeEncoding(encoding: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleNodeEncoding(encoding: self)
  }
}

extension NodeEncoding {
  /// The encoding of the value below a coding key.
  func below(_ key: any CodingKey, _ slot: EncodingSlot) -> NodeEncoding {
    NodeEncoding(slot: slot, codingPath: codingPath + [key], options: options)
  }

  func encode(_ value: some Encodable) throws {
    if codingPath.count > TreeLimits.depthMax {
      throw refusal(
        value, "it is nested deeper than \(TreeLimits.depthMax) levels. Is there a cycle?")
    }
    switch value {
    case let date as Date:
      guard let json = options.dates.json(date) else {
        throw refusal(value, "the date is too far off")
      }
      slot.content = .json(json)
    case let data as Data: slot.content = .json(.string(data.base64EncodedString()))
    case let url as URL: slot.content = .json(.string(url.absoluteString))
    case let decimal as Decimal: try encode(decimal: decimal)
    case let duration as Duration: slot.content = .json(duration.stored)
    default:
      try value.encode(to: self)
      try checkCaseIsKept(value)
    }
  }

  /// Refuses a case of an enum without values: Swift writes it as an object with an empty object in
  /// it, of which nothing would be stored.
  private func checkCaseIsKept(_ value: some Encodable) throws {
    guard let name = slot.emptyMember, Mirror(reflecting: value).displayStyle == .enum else {
      return
    }
    throw refusal(
      value,
      "its case \(name) holds nothing (it has no values, or they are nil or empty), and the tree stores nothing "
        + "empty. Declare the enum with "
        + "`: String` if no case has values; otherwise give the case a value, or write its "
        + "`encode(to:)` and `init(from:)`")
  }

  func encode(json: JSONValue) { slot.content = .json(json) }

  func encodeScalar(_ json: JSONValue) { slot.content = .json(json) }

  func encode(integer value: some FixedWidthInteger & Encodable) throws {
    guard let number = Int64(exactly: value) else {
      throw refusal(value, "\(value) is beyond the range of Int64")
    }
    slot.content = .json(.number(JSONNumber(number)))
  }

  func encode(number value: Double) throws {
    guard let number = JSONNumber(value) else {
      throw refusal(value, "\(value) is no finite number")
    }
    slot.content = .json(.number(number))
  }

  /// Writes a number of single precision with its shortest decimals: 0.1 and not 0.10000000149.
  func encode(single value: Float) throws {
    try encode(number: Double(value.description) ?? Double(value))
  }

  /// Writes a decimal number, unless a number of the tree would be another one.
  private func encode(decimal value: Decimal) throws {
    let text = value.description
    if !value.isFinite { throw refusal(value, "the value \(text) is no finite number") }
    let number = Int64(text).map { JSONNumber($0) } ?? Double(text).flatMap { JSONNumber($0) }
    guard let number, Decimal(number) == value else {
      throw refusal(value, "\(text) has more digits than a number keeps: write it as text")
    }
    slot.content = .json(.number(number))
  }

  private func refusal(_ value: Any, _ reason: String) -> EncodingError {
    EncodingError.invalidValue(
      value, EncodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}
