import RunnelClient
import RunnelTree
import Synchronization

/// A question about a server's tree whose answer loads nothing below what it is about.
struct LevelQuestion: Hashable, Sendable {
  /// The kinds of questions.
  enum Kind: Hashable, Sendable {
    /// A page of the keys of a place, after one of them.
    case page(after: Key?, limit: Int)
    /// What stands at a place.
    case glance
  }

  var number: Int
  var path: Path
  var kind: Kind
}

/// The answer to a question about a server's tree.
enum LevelAnswer: Hashable, Sendable {
  case level(OriginLevel)
  case glance(OriginGlance)
  case failed(OriginReadFailure)
}

/// The source of the levels of a server's tree.
protocol LevelSource: AnyObject {
  /// Asks a question; the answer is among those that are taken later.
  func ask(_ question: LevelQuestion)
  /// Takes a question back, if it has not been asked yet.
  func cancel(_ number: Int)
  /// Returns and removes the answers since the last call.
  func takeAnswers() -> [(number: Int, answer: LevelAnswer)]
}

/// Asks the questions about a server's tree by HTTP requests, a few at a time: pages before glances.
final class LevelReader: LevelSource, Sendable {
  private struct State {
    var pages: [LevelQuestion] = []
    var glances: [LevelQuestion] = []
    var underWay = 0
    var answers: [(number: Int, answer: LevelAnswer)] = []
    var isEnded = false

    /// Removes the next question, if one may be asked now.
    mutating func next() -> LevelQuestion? {
      guard !isEnded, underWay < LevelReader.requestsMax else { return nil }
      guard let question = pages.first ?? glances.first else { return nil }
      if pages.isEmpty { glances.removeFirst() } else { pages.removeFirst() }
      underWay += 1
      return question
    }
  }

  /// The most requests at a time.
  private static let requestsMax = 4

  private let reader: OriginReader
  private let wake: @Sendable () -> Void
  private let state = Mutex(State())

  /// Makes a source; `wake` is called on any thread when there is an answer.
  init(_ reader: OriginReader, wake: @escaping @Sendable () -> Void) {
    (self.reader, self.wake) = (reader, wake)
  }

  func ask(_ question: LevelQuestion) {
    state.withLock { state in
      if question.kind == .glance {
        state.glances.append(question)
      } else {
        state.pages.append(question)
      }
    }
    askNext()
  }

  func cancel(_ number: Int) {
    state.withLock { state in
      state.pages.removeAll { $0.number == number }
      state.glances.removeAll { $0.number == number }
    }
  }

  func takeAnswers() -> [(number: Int, answer: LevelAnswer)] {
    state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  /// Ends the work: nothing more is asked.
  func end() { state.withLock { $0.isEnded = true } }

  private func askNext() {
    guard let question = state.withLock({ $0.next() }) else { return }
    Task {
      let answer = await answer(to: question)
      state.withLock { state in
        state.underWay -= 1
        state.answers.append((question.number, answer))
      }
      wake()
      askNext()
    }
  }

  private func answer(to question: LevelQuestion) async -> LevelAnswer {
    do throws(OriginReadFailure) {
      switch question.kind {
      case .page(let key, let limit):
        return .level(try await reader.level(of: question.path, after: key, limit: limit))
      case .glance: return .glance(try await reader.glance(at: question.path))
      }
    } catch {
      return .failed(error)
    }
  }
}
