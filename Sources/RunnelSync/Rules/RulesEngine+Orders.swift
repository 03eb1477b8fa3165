import RunnelTree

/// A rule that asks for an order of children which no `.indexOn` declares, at its place or below.
///
/// Queries in that order are refused over HTTP, and a listen in it is decided as a read of its whole place, so
/// that the rule grants nothing.
public struct UnindexedOrder: Hashable, Sendable {
  /// The rule.
  public let rule: Rule
  /// The order that it names, as `.indexOn` is written.
  public let name: String
}

extension RulesEngine {
  /// The rules for reading that compare `query.orderByChild` with a text that is in no `.indexOn` at their
  /// place or below, in the order of the file; each order of a rule is there once.
  public var unindexedOrders: [UnindexedOrder] {
    var found: [UnindexedOrder] = []
    for number in contents.nodes.indices {
      guard let rule = contents.nodes[number].read else { continue }
      for name in contents.orderNames(of: rule) {
        let order = UnindexedOrder(rule: rules[rule], name: name)
        // What is no path of a child is the order of no query.
        guard !found.contains(order), let path = try? Path(name),
          !contents.declares(.child(path), from: number)
        else { continue }
        found.append(order)
      }
    }
    return found.sorted { ($0.rule.line, $0.rule.column) < ($1.rule.line, $1.rule.column) }
  }
}

extension RulesContents {
  /// The texts with which a rule compares the order of a query.
  fileprivate func orderNames(of rule: Int) -> [String] {
    // The steps of a rule are stored one after the other, the whole rule last.
    let first = rule == 0 ? 0 : roots[rule - 1] + 1
    return program.steps[first...roots[rule]].compactMap { step in
      guard case .equal(let left, let right) = step else { return nil }
      switch (program.steps[left], program.steps[right]) {
      case (.query(.orderByChild), .constant(.string(let name))),
        (.constant(.string(let name)), .query(.orderByChild)):
        return name
      default: return nil
      }
    }
  }

  /// True if a node, or one below it, declares an index.
  fileprivate func declares(_ order: QueryIndex, from number: Int) -> Bool {
    let node = nodes[number]
    if node.indexes.contains(order) { return true }
    let below = node.children.values.map { $0 } + (node.wildcard.map { [$0] } ?? [])
    return below.contains { declares(order, from: $0) }
  }
}
