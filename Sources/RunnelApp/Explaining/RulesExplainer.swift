import Foundation
import RunnelBase
import RunnelClient
import RunnelSync
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Explains why a server refused a write, by the rules and data that the session's credential may read.
///
/// The rules are those that the server tells, or those of a file that the profile names: mostly, only
/// administrators may read them from a server.
final class RulesExplainer: Sendable {
  /// The most bytes of a rules file.
  private static let fileBytesMax = 4 << 20

  private let reader: any OriginReading
  private let file: String?
  private let wake: @Sendable () -> Void
  private let answers = Mutex<[(id: AppRequestID, answer: Answer)]>([])

  /// Makes an explainer; `wake` is called on any thread when there is an answer.
  init(_ reader: any OriginReading, file: String?, wake: @escaping @Sendable () -> Void) {
    (self.reader, self.file, self.wake) = (reader, file, wake)
  }

  /// Starts the explanation of a write; it is among the answers that are taken later.
  func start(_ id: AppRequestID, _ write: PendingWrite) {
    Task {
      let answer: Answer
      do throws(Refusal) {
        answer = .result(try await explanation(of: write.parts, now: LocalTime.now()))
      } catch {
        answer = .refused(error)
      }
      answers.withLock { $0.append((id, answer)) }
      wake()
    }
  }

  /// Returns and removes the answers since the last call.
  func takeAnswers() -> [(id: AppRequestID, answer: Answer)] {
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }

  func explanation(
    of parts: [Assignment], now: Int64
  ) async throws(Refusal) -> JSONValue {
    let (engine, source) = try await rules()
    let auth: JSONValue
    do throws(OriginReadFailure) {
      guard let identity = try await reader.ruledIdentity() else {
        throw OriginReadFailure(
          .refused, "The rules do not hold for this credential: it is an administrator's.")
      }
      auth = identity
    } catch {
      throw Refusal(error.message)
    }
    let data = ReadPlaces()
    let why = try await data.explain(
      .write(parts), by: engine, as: auth, now: now, reading: reader)
    var members = why.json.object ?? []
    members.append(JSONMember("source", .string(source)))
    if let user = auth["uid"]?.string { members.append(JSONMember("user", .string(user))) }
    members.append(JSONMember("time", .number(JSONNumber(now))))
    let unread = data.unreadable.sorted().map { JSONValue.string($0.description) }
    if !unread.isEmpty { members.append(JSONMember("unread", .array(unread))) }
    return .object(members)
  }

  /// Reads the rules; returns them with the words for where they are from.
  private func rules() async throws(Refusal) -> (engine: RulesEngine, source: String) {
    let bytes: [UInt8]
    let source: String
    if let file {
      guard let data = FileManager.default.contents(atPath: file), data.count <= Self.fileBytesMax
      else {
        throw Refusal("\(file), which the profile names, cannot be read")
      }
      (bytes, source) = (Array(data), file)
    } else {
      do throws(OriginReadFailure) {
        bytes = try await reader.rules()
      } catch {
        let words =
          error.cause == .forbidden
          ? "this credential may not read the rules of the server: `rules:` of the profile can name a file with them"
          : "the rules of the server cannot be read: \(error.message)"
        throw Refusal(words)
      }
      source = "the rules of the server"
    }
    do throws(RulesError) {
      return (try RulesEngine(parsing: bytes), source)
    } catch {
      throw Refusal("the rules cannot be understood: \(error.text(file: source))")
    }
  }
}
