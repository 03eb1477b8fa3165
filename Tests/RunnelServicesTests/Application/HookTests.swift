import RunnelBase
import RunnelServices
import Synchronization
import Testing

/// What happened, in order.
final class Trace: Sendable {
  private let texts = Mutex<[String]>([])

  func add(_ text: String) { texts.withLock { $0.append(text) } }

  var all: [String] { texts.withLock { $0 } }
  var text: String { all.joined(separator: " ") }
}

@Suite struct HookTests {
  /// All hooks of a level, which write their names down.
  private func hooks(_ level: String, _ trace: Trace) -> ServiceHooks {
    func hook(_ name: String) -> Hook { Hook { _ in trace.add("\(level).\(name)") } }
    func around(_ name: String) -> AroundHook {
      AroundHook { context, next in
        trace.add("\(level).\(name)>")
        try await next(&context)
        trace.add("<\(level).\(name)")
      }
    }
    return ServiceHooks(
      around: AroundSet(all: [around("around.all")], get: [around("around.get")]),
      before: HookSet(all: [hook("before.all")], get: [hook("before.get")]),
      after: HookSet(all: [hook("after.all")], get: [hook("after.get")]),
      error: HookSet(all: [hook("error.all")], get: [hook("error.get")]))
  }

  /// An application with all hooks and a service that writes its calls down.
  private func application(_ trace: Trace, fails: Bool = false) async throws -> Feathers {
    let app = Feathers()
    app.hooks(hooks("A", trace))
    let service = TracedService(trace: trace, fails: fails)
    try await app.use("things", service)
    app.service("things").hooks(hooks("S", trace))
    return app
  }

  private struct TracedService: FeathersService {
    let trace: Trace
    var fails = false

    func get(_ id: ServiceID, _ params: ServiceParams) async throws -> JSONValue {
      trace.add("CALL")
      if fails { throw FeathersError(.conflict, "no") }
      return ["id": id.json]
    }

    func find(_ params: ServiceParams) async throws -> JSONValue { [] }
  }

  @Test func hooksRunInTheOrderOfFeathersFive() async throws {
    let trace = Trace()
    _ = try await application(trace).service("things").get(1)
    #expect(
      trace.text == """
        A.around.all> A.around.get> A.before.all A.before.get S.around.all> S.around.get> \
        S.before.all S.before.get CALL S.after.all S.after.get <S.around.get <S.around.all \
        A.after.all A.after.get <A.around.get <A.around.all
        """)
  }

  @Test func aFailureRunsTheErrorHooksFromTheInside() async throws {
    let trace = Trace()
    let app = try await application(trace, fails: true)
    await #expect(throws: FeathersError.self) { try await app.service("things").get(1) }
    #expect(
      trace.text.hasSuffix("CALL S.error.get S.error.all A.error.get A.error.all"))
  }

  @Test func anErrorHookSeesTheFailuresOfItsLayerOnly() async throws {
    let trace = Trace()
    let app = try await application(trace)
    app.service("things").before(HookSet(all: [Hook { _ in throw FeathersError(.gone, "b") }]))
    await #expect(throws: FeathersError(.gone, "b")) { try await app.service("things").get(1) }
    #expect(trace.all.contains("S.error.all") && !trace.all.contains("S.error.get"))
    #expect(trace.all.contains("A.error.get"))

    let late = Trace()
    let other = try await application(late)
    other.service("things").after(HookSet(all: [Hook { _ in throw FeathersError(.gone, "a") }]))
    await #expect(throws: FeathersError(.gone, "a")) { try await other.service("things").get(1) }
    #expect(late.text.hasSuffix("S.after.all S.error.get S.error.all A.error.get A.error.all"))
  }

  @Test func aResultBeforeTheCallTakesItsPlace() async throws {
    let trace = Trace()
    let app = try await application(trace)
    app.service("things").before(HookSet(all: [Hook { $0.result = ["id": "made"] }]))
    let record = try await app.service("things").get(1)
    #expect(record == ["id": "made"])
    #expect(!trace.all.contains("CALL"))
    #expect(trace.all.contains("S.before.get") && trace.all.contains("S.after.get"))
  }

  @Test func anErrorHookMayMakeTheCallSucceed() async throws {
    let trace = Trace()
    let app = try await application(trace, fails: true)
    app.service("things").error(
      HookSet(get: [
        Hook { context in
          #expect(context.error == FeathersError(.conflict, "no"))
          context.result = ["id": "saved"]
        }
      ]))
    #expect(try await app.service("things").get(1) == ["id": "saved"])
    // After hooks of the level are passed over; those of the level outside run.
    #expect(!trace.all.contains("S.after.get") && trace.all.contains("A.after.get"))
    #expect(!trace.all.contains("S.error.all"))
  }

  @Test func anErrorHookMayReplaceTheError() async throws {
    let app = try await application(Trace(), fails: true)
    app.service("things").error(
      HookSet(all: [Hook { $0.error = FeathersError(.notFound, "hidden") }]))
    await #expect(throws: FeathersError(.notFound, "hidden")) {
      try await app.service("things").get(1)
    }
  }

  @Test func aForeignErrorBecomesAGeneralOne() async throws {
    struct Other: Error {}
    let app = try await application(Trace())
    app.service("things").before(HookSet(all: [Hook { _ in throw Other() }]))
    await #expect {
      try await app.service("things").get(1)
    } throws: { ($0 as? FeathersError)?.kind == .generalError }
  }

  @Test func hooksThatAreAddedLaterRunBehind() async throws {
    let trace = Trace()
    let app = Feathers()
    try await app.use("things", TracedService(trace: trace))
    let service = app.service("things")
    service.before(HookSet(all: [Hook { _ in trace.add("1") }]))
    _ = try await service.find()
    // The same service, by another handle.
    app.service("/things/").before(HookSet(find: [Hook { _ in trace.add("3") }]))
    service.before(HookSet(all: [Hook { _ in trace.add("2") }]))
    _ = try await service.find()
    #expect(trace.text == "1 1 2 3")
    #expect(service.hooks(for: .before)?.all.count == 2)
    #expect(service.hooks(for: .after) == nil)
  }

  @Test func nextCanBeCalledOnce() async throws {
    let trace = Trace()
    let app = try await application(trace)
    app.service("things").around(
      AroundSet(get: [
        AroundHook { context, next in
          try await next(&context)
          try await next(&context)
        }
      ]))
    await #expect(throws: FeathersError.self) { try await app.service("things").get(1) }
    #expect(trace.all.filter { $0 == "CALL" }.count == 1)
  }

  @Test func anAroundHookMayPassOverTheCallOrCatchItsFailure() async throws {
    let app = try await application(Trace(), fails: true)
    app.service("things").around(
      AroundSet(get: [
        AroundHook { context, next in
          do { try await next(&context) } catch { context.result = ["id": "caught"] }
        }
      ]))
    #expect(try await app.service("things").get(1) == ["id": "caught"])
  }

  @Test func theContextIsOneForTheWholeCall() async throws {
    let app = Feathers()
    try await app.use("things", MemoryService([["id": 1, "n": 1]]))
    let service = app.service("things")
    service.hooks(
      ServiceHooks(
        before: HookSet(patch: [
          Hook { context in
            context.values["seen"] = context.id?.text
            context.data = context.data?["n"].map { ["n": $0, "by": "hook"] }
            context.query = ["n": 1]
          }
        ]),
        after: HookSet(patch: [
          Hook { context in
            #expect(context.values["seen"] as? String == "1")
            #expect(context.path == "things" && context.method == .patch && context.type == .after)
            context.mapRecords { $0["n"].map { ["id": 1, "n": $0, "after": true] } ?? .null }
          }
        ])))
    #expect(try await service.patch(1, ["n": 5]) == ["id": 1, "n": 5, "after": true])
    #expect(try await service.get(1)["by"] == "hook")
  }

  @Test func setupAndTeardownHaveHooksAround() async throws {
    struct Prepared: FeathersService {
      let trace: Trace
      func setup(_ app: Feathers, path: String) async throws { trace.add("setup \(path)") }
      func teardown(_ app: Feathers, path: String) async throws { trace.add("end \(path)") }
    }
    let (app, trace) = (Feathers(), Trace())
    try await app.use("b", Prepared(trace: trace))
    try await app.use("a", Prepared(trace: trace))
    app.aroundSetup { _, next in
      trace.add("1>")
      try await next()
      trace.add("<1")
    }
    app.aroundSetup { _, next in
      trace.add("2>")
      try await next()
    }
    app.aroundTeardown { _, next in
      try await next()
      trace.add("down")
    }
    try await app.setup()
    try await app.use("late", Prepared(trace: trace))
    try await app.unuse("a")
    try await app.teardown()
    #expect(trace.text == "1> 2> setup a setup b <1 setup late end a end b end late down")
  }

  @Test func validationNamesEachFieldAndResolversSetFields() async throws {
    let app = Feathers()
    try await app.use("users", MemoryService())
    let users = app.service("users")
    users.hooks(
      ServiceHooks(
        before: HookSet(create: [
          .validate { $0["email"]?.string == nil ? ["email": "is needed"] : [:] },
          .resolveData(["role": { value, _, _ in value ?? "guest" }]),
        ]),
        after: HookSet(all: [
          .resolveResult(["label": { _, record, _ in record["email"] }]), .hide("password"),
        ])))
    await #expect {
      try await users.create(["name": "x"])
    } throws: { error in
      let error = error as? FeathersError
      return error?.code == 400 && error?.errors == ["email": "is needed"]
    }
    let made = try await users.create(["email": "e", "password": "p"])
    #expect(made == ["email": "e", "password": "p", "role": "guest", "id": 0, "label": "e"])
    let answer = try await app.answer(
      path: "users", .get(id: 0), ServiceParams(provider: "rest"))
    #expect(answer == ["email": "e", "role": "guest", "id": 0, "label": "e"])
  }
}
