import RunnelBase
import RunnelClient
import RunnelSync
import RunnelTree
import RunnelWorkspace

/// The places and rules of a server, for explanations.
protocol OriginReading: Sendable {
  /// Returns what stands at a place.
  func glance(at path: Path) async throws(OriginReadFailure) -> OriginGlance
  /// Returns the value at a place; nil if it is too large.
  func value(at path: Path) async throws(OriginReadFailure) -> JSONValue?
  /// Returns the text of the rules.
  func rules() async throws(OriginReadFailure) -> [UInt8]
  /// Returns the variable `auth` of the rules; nil if they do not hold for the credential.
  func ruledIdentity() async throws(OriginReadFailure) -> JSONValue?
}

extension OriginReader: OriginReading {}

/// The places of a server's tree that an explanation of rules has read.
///
/// Rules read as they are evaluated, and cannot wait. So a place that was not read yet ends the evaluation;
/// it is read, and the evaluation begins again, with what is known by then.
///
/// It belongs to one task.
final class ReadPlaces: RulesReader {
  /// The most places that are read for an explanation.
  static let placesMax = 200

  private enum Wanted {
    case summary(Path)
    case node(Path)

    var path: Path {
      switch self {
      case .summary(let path), .node(let path): path
      }
    }
  }

  private var summaries: [Path: NodeSummary] = [:]
  private var nodes: [Path: Node] = [:]
  /// The places that the credential may not read, which count as empty.
  private(set) var unreadable: Set<Path> = []
  private var wanted: Wanted?

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    if let summary = summaries[path] { return summary }
    if let node = known(path) { return NodeSummary(node) }
    wanted = .summary(path)
    throw TreeError(.storage, "\(path) was not read yet.")
  }

  func node(at path: Path) throws(TreeError) -> Node {
    if let node = known(path) { return node }
    if let summary = summaries[path] {
      switch summary.kind {
      case .empty: return .empty
      case .leaf(let leaf): return Node(leaf, priority: summary.priority)
      case .children: break
      }
    }
    wanted = .node(path)
    throw TreeError(.storage, "\(path) was not read yet.")
  }

  /// The node at a place if it, or one above it, was read whole; nil otherwise.
  private func known(_ path: Path) -> Node? {
    var place: Path? = path
    while let above = place {
      if let node = nodes[above] { return node[path.relative(to: above) ?? .root] }
      if case .empty? = summaries[above]?.kind { return .empty }
      place = above.parent
    }
    return nil
  }

  /// Explains what rules say of an operation.
  ///
  /// - Throws: `Refusal` if the data cannot be read, or are too much.
  func explain(
    _ operation: RulesOperation, by rules: RulesEngine, as auth: JSONValue, now: Int64,
    reading reader: any OriginReading
  ) async throws(Refusal) -> RulesExplanation {
    for _ in 0...ReadPlaces.placesMax {
      wanted = nil
      do throws(TreeError) {
        return try rules.explain(operation, as: auth, now: now, before: self)
      } catch {
        guard let wanted else { throw Refusal(error.message) }
        try await read(wanted, from: reader)
      }
    }
    throw Refusal("the rules read more than \(ReadPlaces.placesMax) places")
  }

  private func read(_ wanted: Wanted, from reader: any OriginReading) async throws(Refusal) {
    let path = wanted.path
    do throws(OriginReadFailure) {
      if case .summary = wanted, let summary = try await summary(of: path, from: reader) {
        summaries[path] = summary
        return
      }
      guard let json = try await reader.value(at: path) else {
        throw OriginReadFailure(.tooLarge, "\(path) is too large to be read")
      }
      nodes[path] = (try? Node(json: json)) ?? .empty
    } catch {
      guard error.cause == .forbidden else { throw Refusal(error.message) }
      unreadable.insert(path)
      nodes[path] = .empty
    }
  }

  /// Returns the kind of what stands at a place; nil for a long text.
  private func summary(
    of path: Path, from reader: any OriginReading
  ) async throws(OriginReadFailure) -> NodeSummary? {
    let kind: NodeSummary.Kind
    switch try await reader.glance(at: path) {
    case .empty: kind = .empty
    case .keys(let count, _): kind = .children(count: count)
    case .value(let json):
      guard let leaf = json.flatMap({ Leaf($0) }) else { return nil }
      kind = .leaf(leaf)
    }
    return NodeSummary(kind: kind, priority: nil)
  }
}
