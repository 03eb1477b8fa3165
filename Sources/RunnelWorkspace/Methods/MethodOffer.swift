package import RunnelBase
import RunnelStreams
package import RunnelTree

/// A method that a service has besides those for its records, as the user's profile describes it.
package struct MethodOffer: Hashable, Sendable {
  /// The most fields of a form for a call.
  private static let fieldsMax = 40

  /// The place of the service's records.
  package var place: Path
  /// The name of the method.
  package var name: String
  /// What it does, in a few words; empty if that is not told.
  package var words: String
  /// The JSON schema of the data of a call; null if it is not told.
  package var schema: JSONValue

  /// Makes an offer.
  package init(_ place: Path, _ name: String, words: String = "", schema: JSONValue = .null) {
    (self.place, self.name, self.words, self.schema) = (place, name, words, schema)
  }

  /// Reads the methods of services: for each path of a service an object with a member for each method,
  /// whose `description` and `schema` may be given.
  ///
  /// - Parameters:
  ///   - json: the methods.
  ///   - place: returns the place of a service's records; nil if it cannot have one.
  /// - Returns: the methods in their order; nil if the JSON has another form.
  package static func list(_ json: JSONValue, place: (String) -> Path?) -> [MethodOffer]? {
    guard case .object(let services) = json else { return nil }
    var offers: [MethodOffer] = []
    for service in services {
      guard case .object(let methods) = service.value, let place = place(service.name) else {
        return nil
      }
      for method in methods {
        guard case .object = method.value else { return nil }
        offers.append(
          MethodOffer(
            place, method.name, words: method.value["description"]?.string ?? "",
            schema: method.value["schema"] ?? .null))
      }
    }
    return offers
  }

  /// The fields of the data, by the schema; those whose names a form cannot have are left out.
  var fields: [FieldRule] {
    let required = (schema["required"]?.array ?? []).compactMap(\.string)
    let properties = schema["properties"]?.object ?? []
    return properties.prefix(MethodOffer.fieldsMax).compactMap { property in
      guard let key = try? RunnelTree.Key(property.name) else { return nil }
      let value = property.value
      return FieldRule(
        key, MethodOffer.kind(value), isRequired: required.contains(property.name),
        initial: value["default"])
    }
  }

  private static func kind(_ schema: JSONValue) -> FieldRule.Kind {
    if let choices = schema["enum"]?.array {
      let leaves = choices.compactMap { Leaf($0) }
      if !leaves.isEmpty, leaves.count == choices.count { return .choice(leaves) }
    }
    switch schema["type"]?.string {
    case "string"?: return .text(length: length(schema))
    case "integer"?: return .integer(wholeRange(schema))
    case "number"?: return .number(range(schema))
    case "boolean"?: return .boolean
    default: return .any
    }
  }

  private static func length(_ schema: JSONValue) -> ClosedRange<Int>? {
    let (least, most) = (schema["minLength"]?.int, schema["maxLength"]?.int)
    if least == nil, most == nil { return ClosedRange<Int>?.none }
    let lower = max(least ?? 0, 0)
    return lower...max(lower, most ?? .max)
  }

  private static func wholeRange(_ schema: JSONValue) -> ClosedRange<Int64>? {
    let (least, most) = (schema["minimum"]?.int, schema["maximum"]?.int)
    if least == nil, most == nil { return ClosedRange<Int64>?.none }
    let lower = least.map { Int64($0) } ?? .min
    return lower...max(lower, most.map { Int64($0) } ?? .max)
  }

  private static func range(_ schema: JSONValue) -> ClosedRange<Double>? {
    func bound(_ name: String) -> Double? {
      if case .number(let number)? = schema[name] { number.double } else { nil }
    }
    let (least, most) = (bound("minimum"), bound("maximum"))
    if least == nil, most == nil { return ClosedRange<Double>?.none }
    let lower = least ?? -.infinity
    return lower...max(lower, most ?? .infinity)
  }
}

/// A call of a method of a service.
package struct MethodCall: Hashable, Sendable {
  /// The place of the service's records.
  package var place: Path
  /// The name of the method.
  package var name: String
  /// The data.
  package var data: JSONValue

  /// Makes a call.
  package init(_ place: Path, _ name: String, data: JSONValue) {
    (self.place, self.name, self.data) = (place, name, data)
  }
}

// MARK: Recording

extension MethodOffer {
  /// The offer as JSON, for recorded sessions.
  var json: JSONValue {
    [
      "place": .string(place.description), "name": .string(name), "words": .string(words),
      "schema": schema,
    ]
  }

  /// Reads an offer that `json` wrote; nil if the JSON is something else.
  init?(_ json: JSONValue) {
    guard let text = json["place"]?.string, let place = try? Path(text),
      let name = json["name"]?.string
    else { return nil }
    self.init(
      place, name, words: json["words"]?.string ?? "", schema: json["schema"] ?? .null)
  }
}
