import RunnelBase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Calls methods of services for the workspace, each over a connection of its own; the results are kept until
/// the application's loop takes them.
///
/// A call goes over Socket.IO, or over REST if the server has no Socket.IO and nothing was sent.
final class MethodCaller: Sendable {
  /// The most calls under way.
  private static let callsMax = 8

  private let plan: ServicePlan
  private let wake: @Sendable () -> Void
  private let state = Mutex((count: 0, answers: [(id: AppRequestID, answer: Answer)]()))

  /// Makes a caller; `wake` is called on any thread when there is an answer.
  init(_ plan: ServicePlan, wake: @escaping @Sendable () -> Void) {
    (self.plan, self.wake) = (plan, wake)
  }

  /// Starts a call; its answer is among those that are taken later.
  func start(_ id: AppRequestID, _ call: MethodCall) {
    let hasRoom = state.withLock { state in
      if state.count >= MethodCaller.callsMax { return false }
      state.count += 1
      return true
    }
    if !hasRoom {
      state.withLock { $0.answers.append((id, .refused(Refusal("too many calls are under way")))) }
      return wake()
    }
    Task {
      let answer = await answer(to: call)
      state.withLock { state in
        state.count -= 1
        state.answers.append((id, answer))
      }
      wake()
    }
  }

  /// Returns and removes the answers since the last call.
  func takeAnswers() -> [(id: AppRequestID, answer: Answer)] {
    state.withLock { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  private func answer(to call: MethodCall) async -> Answer {
    do throws(FeathersError) {
      do throws(FeathersError) {
        return .result(try await perform(call, plan.hastyApplication()))
      } catch {
        guard error.data?["isSent"] == false else { throw error }
        return .result(try await perform(call, plan.application(plan.restProvider())))
      }
    } catch {
      let fields = error.fieldMessages.map { Refusal.Field(name: $0.name, message: $0.message) }
      return .refused(Refusal("\(error.message) (\(error.name))", fields: fields))
    }
  }

  private func perform(
    _ call: MethodCall, _ app: Feathers
  ) async throws(FeathersError) -> JSONValue {
    defer { app.close() }
    let service = (call.place.keys.first?.text).map { ServiceRecordCoding.name(of: $0) } ?? ""
    return try await app.service(service).request(.call(call.name, data: call.data)).json
  }
}
