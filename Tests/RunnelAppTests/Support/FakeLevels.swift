import RunnelBase
import RunnelTree

@testable import RunnelApp
@testable import RunnelClient

/// A server whose levels are listed, in memory; it answers when it is told to.
final class FakeLevels: LevelSource {
  /// The most keys that a glance counts.
  private static let glancedMax = 100

  /// The tree of the server.
  var tree: Node
  /// Why the next questions fail; nil to answer them.
  var failure: OriginReadFailure?
  /// The places whose keys may not be read.
  var forbidden: Set<Path> = []
  /// Whether questions wait.
  var isHeld = false
  /// All questions that were asked.
  private(set) var asked: [LevelQuestion] = []
  private var waiting: [LevelQuestion] = []

  init(_ json: JSONValue) { tree = (try? Node(json: json)) ?? .empty }

  /// Whether there is something to answer.
  var hasAnswers: Bool { !isHeld && !waiting.isEmpty }

  /// The most keys that were asked for at once.
  var limitMax: Int {
    asked.map { if case .page(_, let limit) = $0.kind { limit } else { 0 } }.max() ?? 0
  }

  func ask(_ question: LevelQuestion) {
    asked.append(question)
    waiting.append(question)
  }

  func cancel(_ number: Int) { waiting.removeAll { $0.number == number } }

  func takeAnswers() -> [(number: Int, answer: LevelAnswer)] {
    if isHeld { return [] }
    defer { waiting = [] }
    return waiting.map { ($0.number, answer(to: $0)) }
  }

  private func answer(to question: LevelQuestion) -> LevelAnswer {
    if let failure { return .failed(failure) }
    if forbidden.contains(question.path) {
      return .failed(OriginReadFailure(.forbidden, "Permission denied."))
    }
    let node = tree[question.path]
    switch question.kind {
    case .page(let after, let limit):
      if let leaf = node.leaf { return .level(.value(leaf.json)) }
      let keys = node.children.map(\.key).filter { key in after.map { $0 < key } ?? true }
      if keys.isEmpty { return .level(.empty) }
      return .level(.keys(Array(keys.prefix(limit)), hasMore: keys.count > limit))
    case .glance:
      if let leaf = node.leaf { return .glance(.value(leaf.json)) }
      return .glance(
        node.children.isEmpty
          ? .empty
          : .keys(
            min(node.children.count, FakeLevels.glancedMax),
            isAll: node.children.count <= FakeLevels.glancedMax))
    }
  }
}
