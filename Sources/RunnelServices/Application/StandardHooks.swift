public import RunnelBase

extension Hook {
  /// A value for a field, made from the one that is there, the record and the call; nil removes it.
  public typealias Resolver =
    @Sendable (_ value: JSONValue?, _ record: JSONValue, _ context: HookContext) async throws
    -> JSONValue?

  /// Refuses data that break rules: the function returns an error for each field that does.
  ///
  /// Each record of an array is checked. The call fails with `BadRequest` and the errors by field.
  public static func validate(
    _ check: @escaping @Sendable (JSONValue) -> [String: String]
  ) -> Hook {
    Hook { context in
      guard let data = context.data else { return }
      for record in data.array ?? [data] {
        let errors = check(record)
        if errors.isEmpty { continue }
        throw FeathersError(
          .badRequest, "validation failed", data: record,
          errors: .object(
            errors.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }))
      }
    }
  }

  /// Refuses queries with operators or filters that the rules do not allow.
  public static func checkQuery(_ rules: QueryRules) -> Hook {
    Hook { context in _ = try QueryReading(context.query, rules: rules) }
  }

  /// Sets fields of the data before a call.
  public static func resolveData(_ fields: [String: Resolver]) -> Hook {
    Hook { context in
      guard let data = context.data else { return }
      context.data = try await resolve(data, fields, context)
    }
  }

  /// Sets fields of each record of the result.
  public static func resolveResult(_ fields: [String: Resolver]) -> Hook {
    Hook { context in
      guard let result = context.result else { return }
      context.result = try await resolve(result, fields, context)
    }
  }

  /// Sets fields of each record that remote callers and listeners get; the result stays as it is.
  public static func resolveExternal(_ fields: [String: Resolver]) -> Hook {
    Hook { context in
      guard let result = context.dispatch ?? context.result else { return }
      context.dispatch = try await resolve(result, fields, context)
    }
  }

  /// Sets conditions and other members of the query before a call.
  public static func resolveQuery(_ fields: [String: Resolver]) -> Hook {
    Hook { context in
      for (name, resolver) in fields.sorted(by: { $0.key < $1.key }) {
        context.query[name] = try await resolver(
          context.query[name], context.query.json, context)
      }
    }
  }

  /// Hides fields from remote callers and listeners.
  public static func hide(_ names: String...) -> Hook {
    let fields = names.map { ($0, { _, _, _ in JSONValue?.none } as Resolver) }
    return resolveExternal(Dictionary(fields) { first, _ in first })
  }

  /// Refuses remote callers who are not signed in.
  public static let authenticate = Hook { context in
    if context.params.provider != nil, context.params.user.isNull,
      context.params.authentication.isNull
    {
      throw FeathersError(.notAuthenticated, "Not authenticated")
    }
  }

  /// Refuses remote callers.
  public static let disallow = Hook { context in
    guard let provider = context.params.provider else { return }
    throw FeathersError(
      .methodNotAllowed,
      "Provider '\(provider)' can not call '\(context.method.name)'. (disallow)")
  }

  private static func resolve(
    _ value: JSONValue, _ fields: [String: Resolver], _ context: HookContext
  ) async throws -> JSONValue {
    if ServicePage(json: value) != nil, let records = value["data"] {
      return value.setting("data", to: try await resolve(records, fields, context))
    }
    switch value {
    case .array(let records):
      var resolved: [JSONValue] = []
      for record in records { resolved.append(try await resolve(record, fields, context)) }
      return .array(resolved)
    case .object(let members):
      var record = value
      for (name, resolver) in fields.sorted(by: { $0.key < $1.key }) {
        // Each resolver sees the record as it was.
        if let made = try await resolver(value[name], value, context) {
          record = record.setting(name, to: made)
        } else if members.contains(where: { $0.name.hasSameBytes(as: name) }) {
          record = .object((record.object ?? []).filter { !$0.name.hasSameBytes(as: name) })
        }
      }
      return record
    default: return value
    }
  }
}
