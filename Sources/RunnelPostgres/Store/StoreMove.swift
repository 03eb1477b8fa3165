import Glibc

/// The move of a namespace to another store, whose primary is another one.
///
/// ```
///   open --freeze--> frozen --copied, and frozen there--> ready --> moved, and opened there
///                      |                                    |
///                      +--a failure, given up--> open <-----+
/// ```
///
/// The servers of the new store have a moment to find it there before clients are sent to them. It is opened
/// there after it was closed here, so that nobody reads an old state, and only by who finds it closed here: so
/// a move that was broken off before may be given up, whatever the new store has got of it. Each move has a
/// number of its own, which tells what an earlier one left there from what is to be opened.
///
/// Nobody writes the namespace while it is frozen, and whoever reads it in its new store finds the same
/// places in its feed. Done again after it was broken off, it goes on. A namespace that was moved away from
/// the new store is replaced there, under its number: so it can be moved back.
///
/// Source: several servers, section 5.
package struct StoreMove {
  /// The name in `meta` of the number of a move that is under way, in both stores.
  static let moveName = "moving"
  /// The name in `meta` of the name of the store to which a move under way leads.
  static let targetName = "moving.store"
  /// The name in `meta` of the number of a move whose rows are all in the other store.
  static let readyName = "moving.ready"
  /// The name in `meta` of the number of a move to this store, until the namespace is opened here.
  static let arrivalName = "moving.here"
  /// The time in which the servers of the new store find the namespace: three of their looks.
  private static let discoveryMicroseconds: UInt32 = 750_000
  /// The name in `meta` of the address to which clients are sent afterwards.
  static let addressName = "moved.to"
  /// The name in `meta` of the number of a move, from its end until the namespace is open in the other store.
  static let unopenedName = "moved.unopened"
  /// The name in `meta` of the number of a move that is given up, from before what the other store has got of
  /// it is removed.
  static let givingUpName = "moved.giving-up"
  /// The name in `meta` of the name of the store from which a move to this one comes; for people.
  static let originName = "moving.from"
  /// The name in `meta` of the number of a move to this store after which the namespace was opened by force,
  /// since the store that it came from was lost.
  static let openedName = "moved.opened"
  /// The name in `meta` of the name of the other store, for people.
  static let storeName = "moved.store"
  /// The name in `meta` of the number of the move that brought a namespace to another store.
  static let numberName = "moved.number"
  /// What the names in `meta` begin with that hold the numbers of the moves that brought a namespace here.
  static let camePrefix = "moved.came."
  /// What the names in `meta` begin with that hold the numbers of moves that were given up.
  static let undonePrefix = "moved.not."
  /// The rows that are in memory at a time.
  static let pageCount = 200

  /// The tables of a namespace with their columns, besides `ns`.
  static let tables: [(name: String, columns: [(name: String, type: String)])] = [
    ("node", [("parent", "bigint"), ("key", "bytea"), ("json", "bytea"), ("split", "bigint")]),
    ("split", [("id", "bigint"), ("children", "bigint"), ("priority", "bytea")]),
    ("index_definition", [("id", "int"), ("pattern", "text"), ("child", "text")]),
    (
      "index_entry",
      [("parent", "bigint"), ("definition", "int"), ("value", "bytea"), ("key", "bytea")]
    ),
    (
      "feed",
      [
        ("seq", "bigint"), ("at", "bigint"), ("server", "uuid"), ("batch", "bigint"),
        ("paths", "text"), ("parts", "bytea"),
      ]
    ),
    (
      "write_client",
      [("client", "text"), ("applied", "bigint"), ("forgotten", "bigint"), ("seen", "bigint")]
    ),
    ("applied_write", [("client", "text"), ("number", "bigint"), ("seq", "bigint")]),
    (
      "disconnect_write",
      [
        ("server", "uuid"), ("session", "bigint"), ("number", "int"), ("path", "text"),
        ("write", "text"),
      ]
    ),
    ("meta", [("name", "text"), ("value", "text")]),
  ]

  /// What became of a move.
  package enum Outcome: Hashable, Sendable {
    /// The namespace was moved.
    case moved
    /// There was nothing to do: it was moved there before.
    case movedBefore
    /// It was moved there before; clients are sent to the new address from now on.
    case readdressed
  }

  let namespace: PostgresStore.Namespace
  let source: PostgresStore
  let target: PostgresStore
  /// The name of the source for people.
  var origin = ""
  /// True if what a move of another namespace has left in the target may be replaced.
  var isForced = false
  /// The number in the target of a namespace that is new there.
  var newNumber: Int64 = 0
  let report: (Int) throws -> Void

  /// Moves a namespace.
  ///
  /// - Parameters:
  ///   - namespace: of `source`.
  ///   - source: where it is.
  ///   - target: where it is to be; its tables are there.
  ///   - address: HOST:PORT of servers of `target`, to which clients are sent; empty for none. Of a namespace
  ///     that was moved there before, it replaces the former one, unless it is empty.
  ///   - name: the name of `target` for people; empty for none.
  ///   - origin: the name of `source` for people; empty for none.
  ///   - isForced: true if what a move has left of another namespace of the name may be replaced in `target`.
  ///   - report: called now and then with the number of rows that were copied; an error ends the move.
  /// - Returns: what became of it.
  /// - Throws: `PostgresError`, and the errors of `report`; then the namespace is as it was, or, if the
  ///   connection to its store broke, frozen until the move is done again or given up.
  @discardableResult
  package static func run(
    _ namespace: PostgresStore.Namespace, from source: PostgresStore, to target: PostgresStore,
    address: String, name: String = "", origin: String = "", isForced: Bool = false,
    report: @escaping (Int) throws -> Void = { _ in }
  ) throws -> Outcome {
    // Two moves at once, to different stores, would make two namespaces of one.
    try alone(with: namespace, of: source) {
      // It may have been moved since it was looked for.
      let present = try source.namespace(named: namespace.name) ?? namespace
      let move = StoreMove(
        namespace: present, source: source, target: target, origin: origin, isForced: isForced,
        report: report)
      return try move.aloneInTarget { try run(move, address, name) }
    }
  }

  private static func run(
    _ move: StoreMove, _ address: String, _ name: String
  ) throws -> Outcome {
    let (namespace, source, target) = (move.namespace, move.source, move.target)
    let before = try move.arrival()
    if try source.metaValue(arrivalName, of: namespace) != nil {
      throw PostgresError(
        .unsuitable,
        "A move of \(namespace.name) to this store is not complete: do that one again first.")
    }
    switch namespace.state {
    case .moved:
      let place = try source.newPlace(of: namespace)
      let number = try source.metaValue(numberName, of: namespace) ?? before.number
      // It was broken off at its end.
      if before.isArriving, before.number == number, name.isEmpty || place.store == name {
        let isNew = try move.readdress(address, insteadOf: place.address)
        if let number { try move.confirm(number) }
        try move.open(number)
        try move.checkOpen(number)
        move.noteOpen()
        return isNew ? .readdressed : .moved
      }
      if place.store == name, !name.isEmpty, try move.isLost(before) {
        throw try move.refusalOfLost(place)
      }
      if place.store == name, !name.isEmpty, before.isThere, !before.isArriving {
        move.noteOpen()
        let isNew = try move.readdress(address, insteadOf: place.address)
        return isNew ? .readdressed : .movedBefore
      }
      let end = try source.isBeingGivenUp(namespace) ? ": \(givingUpWords)." : "."
      throw PostgresError(
        .unsuitable, "\(namespace.name) was moved to \(place.words) already\(end)")
    case .open:
      if before.isThere {
        throw PostgresError(
          .unsuitable, "\(target.connection.name) has a namespace \(namespace.name) already.")
      }
    case .frozen: try move.checkContinuation(before, name)
    }
    if !before.isThere { try move.checkLeftover() }
    // Whatever the target makes wait, nobody waits for that here.
    var copier = move
    if !before.isThere { copier.newNumber = try target.takeNumber() }
    let number = try move.freeze(before.isThere ? before.number : nil, name)
    do {
      if !before.isThere { try copier.copy(number) }
      try move.noteReady(number)
    } catch {
      if !before.isThere, source.connection.isOpen { try? move.undo(number) }
      throw error
    }
    if try !StoreLease.live(target.connection).isEmpty { usleep(discoveryMicroseconds) }
    try move.finish(address, name, number)
    try move.open(number)
    try move.checkOpen(number)
    move.noteOpen()
    // Without notifications the servers notice it when they look, a quarter of a second later.
    for store in [target, source] { try? StoreWake.send([.servers], store.connection) }
    return .moved
  }

  /// Checks that a move of a frozen namespace is the one that was broken off, or that this one cannot have
  /// been done.
  private func checkContinuation(_ before: Arrival, _ name: String) throws {
    if try StoreMove.areSame(source, target) {
      throw PostgresError(
        .unsuitable, "\(namespace.name) is in this store, and its move can be given up.")
    }
    let number = try source.metaValue(StoreMove.moveName, of: namespace)
    if before.isThere {
      if before.number == number, number != nil { return }
      throw PostgresError(
        .unsuitable, "\(target.connection.name) has another namespace \(namespace.name).")
    }
    if let number, let there = try target.namespace(named: namespace.name),
      try target.metaValue(StoreMove.camePrefix + number, of: there) != nil,
      try target.metaValue(StoreMove.arrivalName, of: there) == nil
    {
      throw PostgresError(
        .unsuitable,
        "\(namespace.name) came to \(target.connection.name), and was moved to "
          + "\(try target.newPlace(of: there).words): what is here is old.")
    }
    guard try source.metaValue(StoreMove.readyName, of: namespace) != nil,
      let other = try source.moveTarget(of: namespace), other != name
    else { return }
    throw PostgresError(
      .unsuitable,
      "The move of \(namespace.name) to the store \(other) was almost done: do it again, or give it up first."
    )
  }

  // MARK: Steps

  /// What is in the other store under the name of the namespace.
  struct Arrival {
    var isThere = false
    /// The number of the move that brought it there.
    var number: String?
    /// True if that is under way.
    var isArriving = false
  }

  /// What is in the other store; what a move that was given up has left there counts as nothing.
  func arrival() throws -> Arrival {
    guard let there = try target.namespace(named: namespace.name), there.state != .moved else {
      return Arrival()
    }
    let number = try target.metaValue(StoreMove.moveName, of: there)
    let isArriving = try target.metaValue(StoreMove.arrivalName, of: there) != nil
    if isArriving, let number,
      try source.metaValue(StoreMove.undonePrefix + number, of: namespace) != nil
    {
      return Arrival()
    }
    return Arrival(isThere: true, number: number, isArriving: isArriving)
  }

  /// Opens the namespace that a move brought to the other store, if it is not open there.
  private func open(_ move: String?) throws {
    guard let there = try target.namespace(named: namespace.name) else { return }
    try StoreMove.open(there, movedBy: move ?? "", in: target)
  }

  /// Checks that the namespace is open in the other store: a command that gave the move up meanwhile has
  /// removed it.
  private func checkOpen(_ number: String?) throws {
    if let there = try target.namespace(named: namespace.name), try !target.isArriving(there) {
      guard let number else { return }
      if try target.metaValue(StoreMove.camePrefix + number, of: there) != nil { return }
      if try target.metaValue(StoreMove.moveName, of: there) == number { return }
    }
    throw PostgresError(
      .unsuitable, "The move of \(namespace.name) was given up by another command.")
  }

  /// Notes that the namespace is open in the other store; a move that is done again notes it, too.
  private func noteOpen() {
    _ = try? source.connection.perform([
      StoreMove.forgetting(
        [StoreMove.unopenedName, StoreMove.givingUpName], .integer(namespace.number))
    ])
  }

  /// Waits for the writers, and lets no more of them in; returns the number of the move.
  ///
  /// `former` is the number of the move that goes on; nil for a new one, which gives up any other.
  private func freeze(_ former: String?, _ name: String) throws -> String {
    var random = SystemRandomNumberGenerator()
    let number = former ?? PostgresIdentifier(using: &random).text
    let ns = PostgresValue.integer(namespace.number)
    var statements = [
      PostgresStatement("BEGIN"),
      // A command that was killed does not wait for longer, whatever the version of PostgreSQL is.
      PostgresStatement("SET LOCAL lock_timeout = '30s'"),
      PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
    ]
    if former == nil {
      if namespace.state == .frozen { statements.append(StoreMove.undoing(ns)) }
      statements.append(StoreMove.forgetting([StoreMove.readyName], ns))
    }
    statements += [
      StoreMove.keeping(number, StoreMove.moveName, ns),
      StoreMove.keeping(name, StoreMove.targetName, ns),
      PostgresStatement("UPDATE namespace SET state = 1 WHERE ns = $1 AND state = 0", ns),
      PostgresStatement("COMMIT"),
    ]
    try source.atomically(statements)
    return number
  }

  /// Notes that all rows are in the other store: the end of the move may follow.
  private func noteReady(_ number: String) throws {
    try source.connection.perform([
      StoreMove.keeping(number, StoreMove.readyName, .integer(namespace.number))
    ])
  }

  /// Opens the namespace here again, if it is frozen; what was copied is not open there, and is removed.
  private func undo(_ number: String) throws {
    try StoreMove.thaw(namespace, of: source)
    // A commit whose answer was lost may have been done.
    let other = target.connection.isOpen ? target : try PostgresStore(target.connect)
    defer { if other !== target { other.close() } }
    if let there = try other.namespace(named: namespace.name) {
      try StoreMove.undoArrival(of: there, by: number, in: other)
    }
  }

  /// Closes the namespace here.
  ///
  /// - Throws: `PostgresError`, also if the move was given up meanwhile.
  private func finish(_ address: String, _ name: String, _ number: String) throws {
    let ns = PostgresValue.integer(namespace.number)
    try source.undoing {
      let found = try source.connection.perform([
        PostgresStatement("BEGIN"),
        PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
        PostgresStatement(
          "SELECT 1 FROM meta WHERE ns = $1 AND name = $2 AND value = $3", ns,
          .text(StoreMove.moveName), .text(number)),
      ])
      guard found[1].count == 1, found[2].count == 1,
        try found[1].integer(0, 0) == PostgresStore.State.frozen.rawValue
      else {
        throw PostgresError(
          .unsuitable, "The move of \(namespace.name) was given up by another command.")
      }
      try source.connection.perform([
        PostgresStatement("UPDATE namespace SET state = 2 WHERE ns = $1", ns),
        StoreMove.forgetting([StoreMove.moveName, StoreMove.targetName, StoreMove.readyName], ns),
        StoreMove.keeping(address, StoreMove.addressName, ns),
        StoreMove.keeping(name, StoreMove.storeName, ns),
        StoreMove.keeping(number, StoreMove.numberName, ns),
        StoreMove.keeping(number, StoreMove.unopenedName, ns),
        PostgresStatement("COMMIT"),
      ])
    }
    try checkConfirmation()
  }

  /// Makes sure that the end of the move was confirmed: what comes later is.
  ///
  /// It is not given up any more.
  private func confirm(_ number: String) throws {
    let ns = PostgresValue.integer(namespace.number)
    try source.connection.perform([
      StoreMove.keeping(number, StoreMove.numberName, ns),
      StoreMove.forgetting([StoreMove.givingUpName], ns),
    ])
    try checkConfirmation()
  }

  /// Checks that the last commit was not given up: a primary that was replaced confirms nothing, and the new
  /// one may not know of it.
  private func checkConfirmation() throws {
    if source.connection.warningState == nil { return }
    throw PostgresError(
      .inDoubt, "The primary has not confirmed the end of the move of \(namespace.name).")
  }

  /// Sends the clients of a namespace that was moved to another address, unless that is empty or the same.
  ///
  /// Servers learn of it when they look, a quarter of a second later.
  private func readdress(_ address: String, insteadOf former: String) throws -> Bool {
    if address.isEmpty || address == former { return false }
    try source.connection.perform([
      StoreMove.keeping(address, StoreMove.addressName, .integer(namespace.number))
    ])
    return true
  }

  static func keeping(
    _ value: String, _ name: String, _ namespace: PostgresValue
  ) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO meta (ns, name, value) VALUES ($1, $2, $3)
      ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
      """, namespace, .text(name), .text(value))
  }
  static func forgetting(_ names: [String], _ namespace: PostgresValue) -> PostgresStatement {
    PostgresStatement(
      "DELETE FROM meta WHERE ns = $1 AND name = ANY($2)", namespace, .texts(names))
  }

  /// Keeps in mind that the move under way, or what `name` is the number of, is given up.
  static func undoing(
    _ namespace: PostgresValue, _ name: String = moveName
  ) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO meta (ns, name, value)
      SELECT ns, '\(undonePrefix)' || value, '' FROM meta WHERE ns = $1 AND name = '\(name)'
      ON CONFLICT (ns, name) DO NOTHING
      """, namespace)
  }
}
