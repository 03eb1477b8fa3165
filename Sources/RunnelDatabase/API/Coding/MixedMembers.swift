/// The members of an object, each of a type of its own; nil is null.
struct MixedMembers: Encodable {
  let members: [String: (any Encodable)?]

  init(_ members: [String: (any Encodable)?]) { self.members = members }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NamedKey.self)
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      if let value {
        try container.encode(value, forKey: NamedKey(name))
      } else {
        try container.encodeNil(forKey: NamedKey(name))
      }
    }
  }
}
