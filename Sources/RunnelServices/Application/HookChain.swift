import RunnelBase

/// The hooks of one method, in the order in which Feathers 5 runs them.
///
/// Each level, that of the application around that of the service, is an onion, from the outside:
/// the hooks around all calls; those around the method; a layer of the hooks before all and the
/// error hooks for all; a layer of the hooks before and after the method and its error hooks; the
/// hooks after all. So an error hook sees failures of its own layer and of what is inside.
///
/// Invariant: the call is made at most once.
struct HookChain: Sendable {
  struct Level: Sendable {
    var around: [AroundHook] = []
    var beforeAll: [Hook] = []
    var beforeMethod: [Hook] = []
    var afterAll: [Hook] = []
    var afterMethod: [Hook] = []
    var errorAll: [Hook] = []
    var errorMethod: [Hook] = []

    init(_ hooks: ServiceHooks, _ method: ServiceMethod) {
      around = hooks.around.all + (hooks.around.methods[method] ?? [])
      (beforeAll, beforeMethod) = (hooks.before.all, hooks.before.methods[method] ?? [])
      (afterAll, afterMethod) = (hooks.after.all, hooks.after.methods[method] ?? [])
      (errorAll, errorMethod) = (hooks.error.all, hooks.error.methods[method] ?? [])
    }

    var isEmpty: Bool {
      around.isEmpty && beforeAll.isEmpty && beforeMethod.isEmpty && afterAll.isEmpty
        && afterMethod.isEmpty && errorAll.isEmpty && errorMethod.isEmpty
    }
  }

  private let levels: [Level]
  private let service: any FeathersService

  init(_ levels: [Level], _ service: any FeathersService) {
    self.levels = levels.filter { !$0.isEmpty }
    self.service = service
  }

  /// Runs the hooks and the call.
  func run(_ context: inout HookContext) async throws {
    try await run(&context, level: 0, around: 0)
  }

  /// Runs a level from one of its hooks around the call on.
  private func run(_ context: inout HookContext, level: Int, around: Int) async throws {
    guard level < levels.count else { return try await perform(&context) }
    guard around < levels[level].around.count else {
      return try await runLayers(&context, level)
    }
    context.type = .around
    var isUsed = false
    try await levels[level].around[around].run(&context) { context in
      if isUsed {
        throw FeathersError(.generalError, "A hook around a call has called next() twice.")
      }
      isUsed = true
      try await run(&context, level: level, around: around + 1)
      context.type = .around
    }
  }

  private func runLayers(_ context: inout HookContext, _ level: Int) async throws {
    let hooks = levels[level]
    do {
      for hook in hooks.beforeAll { try await run(hook, .before, &context) }
      do {
        for hook in hooks.beforeMethod { try await run(hook, .before, &context) }
        try await run(&context, level: level + 1, around: 0)
        for hook in hooks.afterAll { try await run(hook, .after, &context) }
        for hook in hooks.afterMethod { try await run(hook, .after, &context) }
      } catch {
        try await recover(from: error, hooks.errorMethod, &context)
      }
    } catch {
      try await recover(from: error, hooks.errorAll, &context)
    }
  }

  private func run(
    _ hook: Hook, _ type: HookContext.Kind, _ context: inout HookContext
  ) async throws {
    context.type = type
    // What an error was that a hook around the call has caught does not matter any more.
    if type != .error { context.error = nil }
    try await hook.run(&context)
    // A hook may set the error instead of throwing it.
    if type != .error, let error = context.error { throw error }
  }

  /// Runs error hooks; the call goes on if one of them sets a result.
  private func recover(
    from error: any Error, _ hooks: [Hook], _ context: inout HookContext
  ) async throws {
    if hooks.isEmpty { throw error }
    let failure = FeathersError.from(error)
    context.error = failure
    context.result = JSONValue?.none
    for hook in hooks { try await run(hook, .error, &context) }
    if context.result == nil { throw context.error ?? failure }
    context.error = nil
  }

  private func perform(_ context: inout HookContext) async throws {
    if context.result != nil { return }
    try Task.checkCancellation()
    let request = ServiceRequest(
      context.method, id: context.id, data: context.data, query: context.params.query)
    context.result = try await service.perform(request, context.params)
  }
}
