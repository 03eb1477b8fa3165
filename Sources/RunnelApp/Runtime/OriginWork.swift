import RunnelClient
import RunnelDatabase
import RunnelDevices
import RunnelWorkspace

/// What the program does at a server beside the user's writes: it keeps who is here, and the user's devices,
/// each if the profile names its place, and calls methods of services.
struct OriginWork {
  private let presence: PresenceWork?
  /// Keeps this device in the list of the user's devices.
  let devices: DeviceWork?
  private let methods: MethodCaller?
  /// The source of the levels of the server's tree; nil if they are not asked for by HTTP.
  let levels: LevelReader?
  private let rules: RulesExplainer?

  /// Begins the work for a database; none for a local one, and none if writing is off.
  ///
  /// - Parameters:
  ///   - database: the replica of the server's database; nil for none.
  ///   - options: how the workspace was started.
  ///   - accounts: the accounts that give the access; nil for that of the options.
  ///   - wake: called on any thread when there is something to take.
  init(
    _ database: Database? = nil, _ options: ApplicationOptions? = nil,
    _ accounts: AccountWork? = nil, wake: @escaping @Sendable () -> Void = {}
  ) {
    let reader = options?.origin.flatMap { wish in
      OriginReader(
        wish.address, as: accounts?.access(of: wish.user) ?? wish.access, wish.options)
    }
    levels = database == nil ? nil : reader.map { LevelReader($0, wake: wake) }
    rules = reader.map { RulesExplainer($0, file: options?.origin?.rulesFile, wake: wake) }
    for place in options?.origin?.keep ?? [] {
      database?.reference(at: place).keepSynced(true)
    }
    // Whoever may not write is not seen.
    guard let database, let options, !options.isReadOnly, let wish = options.origin else {
      (presence, devices, methods) = (nil, nil, nil)
      return
    }
    methods = wish.services.map { plan in
      var plan = plan
      if let accounts { plan.tokens = accounts.access(of: wish.user).provider }
      return MethodCaller(plan, wake: wake)
    }
    presence = wish.presence.map { place in
      PresenceWork(database, at: place, wake: wake)
    }
    guard let place = wish.devices, let user = wish.user, wish.accounts != nil else {
      devices = nil
      return
    }
    var about = DeviceOptions()
    about.version = wish.programVersion
    devices = DeviceWork(database, at: place, of: user, options: about, wake: wake)
  }

  /// Tells the others where the user is.
  func show(_ state: AppState) {
    guard let presence else { return }
    presence.show(
      Presence.own(state, id: presence.id), isShared: state.database.origin?.isLiveElsewhere == true
    )
  }

  /// Returns and removes what happened since the last call.
  ///
  /// - Parameter accounts: the accounts; nil if the access is that of a token.
  /// - Returns: what happened, as actions.
  func news(_ accounts: AccountFacts?) -> [AppAction] {
    var actions: [AppAction] = []
    if let (others, problem) = presence?.news() {
      if let others { actions.append(.present(others)) }
      // Why the user is signed out is more than what follows from it.
      if let problem, !(problem.isDenied && accounts?.explainsDenials == true) {
        actions.append(.trouble(problem.text))
      }
    }
    if let news = devices?.takeNews() {
      if let facts = news.facts { actions.append(.devices(facts)) }
      actions += news.answers.map { .answered($0.id, $0.answer) }
      if let problem = news.problem { actions.append(.trouble(problem)) }
    }
    actions += (methods?.takeAnswers() ?? []).map { .answered($0.id, $0.answer) }
    actions += (rules?.takeAnswers() ?? []).map { .answered($0.id, $0.answer) }
    return actions
  }

  /// Starts what an effect asks of the server; returns the answer if it is known at once, or else nil.
  func start(_ effect: Effect) -> AppAction? {
    switch effect {
    case .device(let id, let request): return start(id, request)
    case .callMethod(let id, let call): return start(id, call)
    case .explain(let id, let write):
      guard let rules else {
        return .answered(id, .refused(Refusal("the rules of this server cannot be read")))
      }
      rules.start(id, write)
      return nil
    default: return nil
    }
  }

  private func start(_ id: AppRequestID, _ request: DeviceRequest) -> AppAction? {
    guard let devices else {
      return .answered(id, .refused(Refusal("no devices are listed for this database")))
    }
    devices.start(id, request)
    return nil
  }

  private func start(_ id: AppRequestID, _ call: MethodCall) -> AppAction? {
    guard let methods else {
      return .answered(id, .refused(Refusal("the methods of services cannot be called here")))
    }
    methods.start(id, call)
    return nil
  }

  /// Ends the work.
  func end() {
    presence?.end()
    levels?.end()
    devices?.end()
  }
}
