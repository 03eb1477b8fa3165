import RunnelBase

/// The form of documents and writes of Cloud Firestore, as its REST interface has them.
enum FirestoreWire {
  /// A part of a document that is written: the fields below a path, and the paths of the mask.
  struct Part {
    var fields: [JSONMember]
    var paths: [String]
  }

  // MARK: Values

  static func map(_ members: [JSONMember]) -> JSONValue {
    ["mapValue": ["fields": .object(members)]]
  }

  static func text(_ text: String) -> JSONValue { ["stringValue": .string(text)] }

  static func number(_ number: Int64) -> JSONValue { ["integerValue": .string(String(number))] }

  /// Returns a value without its types; nil for a kind that devices do not have.
  static func plain(_ value: JSONValue) -> JSONValue? {
    if let text = value["stringValue"]?.string { return .string(text) }
    if let text = value["integerValue"]?.string, let number = Int64(text) {
      return .number(JSONNumber(number))
    }
    if let number = value["integerValue"]?.int { return .number(JSONNumber(Int64(number))) }
    if let flag = value["booleanValue"]?.bool { return .bool(flag) }
    if let map = value["mapValue"] { return plain(fields: map["fields"]) }
    return nil
  }

  /// Returns fields without their types.
  static func plain(fields: JSONValue?) -> JSONValue {
    .object(
      (fields?.object ?? []).compactMap { member in
        plain(member.value).map { JSONMember(member.name, $0) }
      })
  }

  // MARK: Paths

  /// Returns the path of a field; a name that is no plain word is quoted.
  static func path(_ names: String...) -> String {
    names.enumerated().map { index, name in index == 0 ? name : quoted(name) }
      .joined(separator: ".")
  }

  /// Returns a name in backticks.
  static func quoted(_ name: String) -> String {
    "`" + name.replacing("\\", with: "\\\\").replacing("`", with: "\\`") + "`"
  }

  // MARK: Writes

  /// Returns the body of a commit: one write for each part.
  static func commit(_ document: String, _ parts: [Part], mustExist: Bool = false) -> JSONValue {
    let writes = parts.map { part -> JSONValue in
      var write = [
        JSONMember(
          "update", ["name": .string(document), "fields": .object(part.fields)]),
        JSONMember("updateMask", ["fieldPaths": .array(part.paths.map { .string($0) })]),
      ]
      if mustExist { write.append(JSONMember("currentDocument", ["exists": true])) }
      return .object(write)
    }
    return ["writes": .array(writes)]
  }

  /// The entry of a device.
  static func put(_ device: Device, of user: String) -> Part {
    let fields = (device.entry.object ?? []).map { member in
      JSONMember(member.name, text(member.value.string ?? ""))
    }
    return Part(
      fields: [
        JSONMember(DeviceField.userID, text(user)),
        JSONMember(DeviceField.devices, map([JSONMember(device.id, map(fields))])),
      ], paths: [DeviceField.userID, path(DeviceField.devices, device.id)])
  }

  /// What is known beside the entry; what is nil is removed.
  static func status(_ device: String, _ values: [(name: String, value: JSONValue?)]) -> Part {
    let fields = values.compactMap { name, value in value.map { JSONMember(name, $0) } }
    let known =
      fields.isEmpty
      ? [] : [JSONMember(DeviceField.states, map([JSONMember(device, map(fields))]))]
    return Part(
      fields: known, paths: values.map { "\(path(DeviceField.states, device)).\($0.name)" })
  }
}
