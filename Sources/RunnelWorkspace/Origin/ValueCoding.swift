package import RunnelBase
import RunnelServices
package import RunnelTree

/// How values that a tree does not hold stand in the tree of an origin: null, arrays and empty objects.
///
/// A tree drops or reshapes them. The services of a Feathers server have them, so their records are in the
/// tree in another form, which nobody is to see: what is shown is made by `shown`, and what is typed becomes
/// what is written by `stored`.
package enum ValueCoding: Hashable, Sendable {
  /// A tree: null is nothing there.
  case tree
  /// The services of a Feathers server.
  case services

  /// Returns what a value in the tree stands for.
  package func shown(_ json: JSONValue) -> JSONValue {
    self == .services ? ServiceRecordCoding.decoded(json) : json
  }

  /// Returns what a node stands for; null for an empty one, too.
  package func shown(_ node: RunnelTree.Node) -> JSONValue { shown(node.json) }

  /// Returns the form of a value in the tree.
  ///
  /// A time of the server stays one. With `keepsNames`, the names of members are keys already.
  package func stored(_ json: JSONValue, keepsNames: Bool = false) -> JSONValue {
    if self == .tree { return json }
    switch json {
    case .object(let members) where !members.isEmpty:
      if json[ReservedName.serverValue] != nil { return json }
      return .object(
        members.map { member in
          let key = keepsNames ? nil : try? ServiceRecordCoding.key(for: member.name)
          // A name that is too long is refused with the write.
          return JSONMember(key ?? member.name, stored(member.value, keepsNames: keepsNames))
        })
    case .array(let elements) where !elements.isEmpty:
      let kept = elements.map { stored($0, keepsNames: keepsNames) }
      // The form of an array, with the elements in theirs.
      var members = ValueCoding.emptyList.object ?? []
      for (index, element) in kept.enumerated() {
        members.append(JSONMember(String(index), element))
      }
      return .object(members)
    default: return (try? ServiceRecordCoding.encoded(json)) ?? json
    }
  }

  /// Returns the form in the tree of a value that was made of another one.
  ///
  /// Where that has a field `.sv`, it is one, and no value that the server makes.
  func stored(_ json: JSONValue, madeOf original: JSONValue) -> JSONValue {
    guard self == .services, original.holdsServerValue else { return stored(json) }
    return (try? ServiceRecordCoding.encoded(json)) ?? json
  }

  /// The members that every array has besides its elements.
  private static let emptyList: JSONValue = {
    let list = (try? ServiceRecordCoding.encoded([0])) ?? [:]
    return .object((list.object ?? []).filter { Int($0.name) == nil })
  }()

  /// Returns a value that a tree holds in another form: null, an array or an empty object; nil for any other
  /// node.
  package func codedValue(_ node: RunnelTree.Node) -> JSONValue? {
    guard self == .services, node.leaf == nil, !node.isEmpty else { return nil }
    guard node.children.first(where: { ServiceRecordCoding.isMark($0.key.text) }) != nil else {
      return nil
    }
    let value = shown(node)
    switch value {
    case .object(let members): return members.isEmpty ? value : nil
    default: return value
    }
  }

  /// Returns a record of a sample with texts for its arrays, and without other values that a tree does not
  /// hold: these make no columns.
  package func sampled(_ record: RunnelTree.Node) -> RunnelTree.Node {
    if self == .tree || record.leaf != nil { return record }
    var children: [Child] = []
    for child in record.children {
      switch codedValue(child.node) {
      case nil: children.append(child)
      case .array(let elements)? where !elements.isEmpty:
        let text = JSONValue.array(elements).jsonText()
        children.append(Child(key: child.key, node: RunnelTree.Node(.string(text))))
      default: break
      }
    }
    return RunnelTree.Node(children: children)
  }
}

extension OpenedDatabase {
  /// How values that a tree does not hold stand in the database that is shown.
  var coding: ValueCoding { origin?.hasServices == true ? .services : .tree }

  /// The words that say that a write is done: at a server without a connection, it is only kept.
  var savedWords: String { waitingWords.isEmpty ? "saved" : "kept\(waitingWords)" }

  /// The words that say that a record was added, or only kept.
  var addedWords: String { waitingWords.isEmpty ? "added" : savedWords }

  /// The words that say that a write waits for the server; empty if it does not, or if there is none.
  var waitingWords: String {
    guard coding == .services, let origin else { return "" }
    let isUnreached = origin.isDisconnected || origin.link == .connecting
    return isUnreached ? ", and sent when the server is there" : ""
  }
}
