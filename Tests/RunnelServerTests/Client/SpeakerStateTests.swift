import RunnelClient
import RunnelDatabase
import RunnelSync
import Testing

/// What databases on one replica know of the connection that one of them holds, and who may hold it.
@Suite(.timeLimit(.minutes(2))) struct SpeakerStateTests {
  private let place: ReplicaPlace

  init() throws { place = try ReplicaPlace() }

  @Test func theOthersShowTheStateOfTheOneThatConnects() async throws {
    var databases: [Database] = []
    try await withServer { server in
      let first = try await place.connect(port: server.port)
      try await first.waitUntilLive()
      let second = try await place.connect(port: server.port)
      let live = try await second.wait { $0.state == .elsewhere && $0.speaker == .live }
      #expect(live.link == .live && live.offlineSince == nil && !live.isLive)
      databases = [first, second]
    }
    @Sendable func isWaiting(_ state: LinkState?) -> Bool {
      if case .waiting? = state { true } else { false }
    }
    let (first, second) = (databases[0], databases[1])
    let own = try await first.wait { isWaiting($0.link) }
    let other = try await second.wait { $0.state == .elsewhere && isWaiting($0.speaker) }
    #expect(own.offlineSince != nil && other.offlineSince == own.offlineSince)
    first.close()
    _ = try await second.wait { $0.state != .elsewhere && isWaiting($0.link) }
    second.close()
  }

  @Test func whatAHolderToldIsTrueOnlyWhileItHoldsTheLock() throws {
    let locks = try (0..<3).map { _ in try SpeakerLock(database: place.file()) }
    #expect(locks[0].stateOfHolder == nil && !locks[0].isHeldElsewhere)
    locks[0].tell(state: "nobody asked")
    #expect(locks[1].stateOfHolder == nil)
    #expect(locks[0].take())
    #expect(locks[1].isHeldElsewhere && !locks[0].isHeldElsewhere)
    #expect(locks[1].stateOfHolder == nil)
    for state in ["a", "b"] {
      locks[0].tell(state: state)
      #expect(locks[1].stateOfHolder == state)
    }
    locks[0].release()
    #expect(locks[1].stateOfHolder == nil)
    #expect(locks[1].take())
    #expect(locks[2].stateOfHolder == nil)
    locks[1].tell(state: "c")
    #expect(locks[2].stateOfHolder == "c")
  }

  @Test func wordsSayWhatWritesWaitFor() {
    let words = { (link: LinkState) in OriginStatus.words(onWaiting: OriginStatus(.link(link))) }
    #expect(OriginStatus.words(onWaiting: nil) == ": a connection is being made")
    #expect(words(.connecting) == ": a connection is being made")
    #expect(words(.live) == ": the server has not answered them yet")
    #expect(words(.waiting(until: 5, "It is gone.")) == ": It is gone")
    let links: [LinkState] = [
      .authenticating, .catchingUp, .notAnswering, .offline(.asked), .waiting(until: 5, nil),
    ]
    #expect(Set(links.map(words)).count == links.count, "each has words of its own")
    #expect(links.allSatisfy { words($0).hasPrefix(": ") })
    var elsewhere = OriginStatus(.elsewhere)
    let other = ": another program has the replica open to send them"
    #expect(OriginStatus.words(onWaiting: elsewhere) == "\(other), and has no connection")
    elsewhere.speaker = .waiting(until: 5, "It is gone.")
    #expect(OriginStatus.words(onWaiting: elsewhere) == "\(other), and waits: It is gone")
    elsewhere.speaker = .notAnswering
    #expect(OriginStatus.words(onWaiting: elsewhere) == "\(other): the server does not answer")
    elsewhere.speaker = .live
    #expect(OriginStatus.words(onWaiting: elsewhere) == ": another program holds the connection")
  }

  @Test(arguments: [
    LinkState.connecting, .authenticating, .catchingUp, .live, .notAnswering, .offline(.asked),
    .waiting(until: 5, nil), .waiting(until: 7, "The \"server\"\nis gone."),
    .offline(.shutDown("Go.")), .offline(.refused(CredentialRefusal(.expiredToken, "Too old."))),
  ])
  func eachStateIsReadAsItWasTold(_ state: LinkState) throws {
    for since in [nil, 12] as [Int64?] {
      let told = try #require(SpeakerState(OriginStatus(.link(state), offlineSince: since)))
      #expect(SpeakerState(told.text) == told)
      #expect(told.link == state && told.offlineSince == since)
    }
    #expect(SpeakerState(OriginStatus(.elsewhere)) == nil)
    #expect(SpeakerState("{}") == nil && SpeakerState("") == nil)
  }

  /// The one without a credential asks for one once in a long time, and never because another gave up.
  @Test(arguments: [false, true])
  func whoHasNoValidCredentialLeavesTheLinkToWhoHasOne(isRefused: Bool) async throws {
    try await withServer { server in
      let asked = [Counter(), Counter()]
      var options = ReplicaPlace.options
      (options.limits.delayMin, options.limits.delayMax) = (60_000, 600_000)
      // After a first refusal the next attempt must not take long.
      if isRefused { options.limits.delayMin = 20 }
      var lacking: [Database] = []
      for counter in asked {
        let access = OriginAccess(user: "ana") { isRefresh in
          counter.add(isRefresh)
          if !isRefused { throw NotSeen() }
          return Credential("x.y.z", isAdministrator: false)
        }
        let database = try await place.connect(port: server.port, as: access, options: options)
        _ = try await database.wait { status in
          switch status.state {
          case .link(.offline(.refused)): true
          case .link(.waiting): !isRefused
          default: false
          }
        }
        lacking.append(database)
      }
      let able = try await place.connect(port: server.port, as: .token("owner"))
      try await able.waitUntilLive()
      for database in lacking {
        _ = try await database.wait { $0.state == .elsewhere && $0.speaker == .live }
        try await database.reference(withPath: "x").setValue(1).acknowledgement()
      }
      for counter in asked { #expect(counter.all == (isRefused ? [false, true] : [false])) }
      for database in lacking + [able] { database.close() }
    }
  }

  @Test func whoLeftTheLinkTriesAgainWhenAsked() async throws {
    try await withServer { server in
      let asked = Counter()
      var options = ReplicaPlace.options
      (options.limits.delayMin, options.limits.delayMax) = (60_000, 600_000)
      let access = OriginAccess(user: "ana") { isRefresh in
        asked.add(isRefresh)
        if asked.all.count == 1 { throw NotSeen() }
        return Credential("owner", isAdministrator: true)
      }
      let database = try await place.connect(port: server.port, as: access, options: options)
      _ = try await database.wait { if case .link(.waiting) = $0.state { true } else { false } }
      await database.originLink?.retry()
      try await database.waitUntilLive()
      #expect(asked.all == [false, false])
      database.close()
    }
  }
}
