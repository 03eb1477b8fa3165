import RunnelBase
import RunnelIdentity
import RunnelTree

/// The places of an accounts file.
enum AccountPlaces {
  /// The mark of an accounts file, which is never served.
  static let mark = "runnel-accounts"
  static let accounts = "accounts"
  static let codes = "codes"
  static let sessions = "sessions"
  static let revocations = "revocations"
  static let keys = "keys"
  static let lockOuts = "lock-outs"
  static let settings = "settings"
  /// The mails that are owed until they were sent.
  static let mails = "mails"
  /// A text that shows that the accounts can be written; it is removed at once.
  static let trial = "trial"

  /// The indexes by which accounts and codes are found.
  static func indexes() throws(TreeError) -> [IndexDefinition] {
    [
      try IndexDefinition("/" + accounts, by: "email"),
      try IndexDefinition("/" + accounts, by: "phoneNumber"),
      try IndexDefinition("/" + codes, by: MailedCode.Field.owner),
      try IndexDefinition("/" + codes, by: MailedCode.Field.time),
    ]
  }

  static func path(_ names: String...) throws(TreeError) -> Path {
    var keys: [Key] = []
    for name in names { keys.append(try Key(name)) }
    return try Path(keys)
  }

  /// The key of an id, which may have characters that keys have not.
  static func key(of id: String) -> String {
    var text = ""
    for byte in id.utf8 {
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "/"),
        UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "%"), 0..<0x20, 0x7F...:
        text += byte < 16 ? "%0" : "%"
        text += String(byte, radix: 16, uppercase: true)
      default: text.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return text
  }

  /// The id of a key; nil if it is none.
  static func id(of key: String) -> String? {
    PercentEncoding.decoded(key.utf8, isPlusSpace: false)
  }
}

/// The stored accounts in a transaction.
struct StoredIdentity: IdentityReader {
  let reader: any TreeReader

  private func reading<Result>(
    _ body: () throws(TreeError) -> Result
  ) throws(IdentityStop) -> Result {
    do throws(TreeError) { return try body() } catch { throw .storage(error) }
  }

  private func json(_ names: String...) throws(IdentityStop) -> JSONValue {
    try reading { () throws(TreeError) in
      var keys: [Key] = []
      for name in names { keys.append(try Key(name)) }
      return try reader.node(at: Path(keys)).json
    }
  }

  /// The rows of a place whose child has a value.
  private func rows(
    _ place: String, _ child: String, _ value: String, count: Int
  ) throws(IdentityStop) -> [TreeRow] {
    try reading { () throws(TreeError) in
      let query = try Query(AccountPlaces.path(place)).ordered(byChild: child)
        .equal(to: .leaf(.string(value))).limited(to: count, from: .first)
      return try reader.rows(of: query.path, in: RowSlice(query), detail: .full)
    }
  }

  private static func node(_ row: TreeRow) -> JSONValue {
    if case .node(let node) = row.content { node.json } else { .null }
  }

  /// True if an account can have an id.
  private static func isPossible(_ id: String) -> Bool {
    (1...AccountRecord.idBytesMax).contains(id.utf8.count)
  }

  func account(_ id: String) throws(IdentityStop) -> AccountRecord? {
    guard StoredIdentity.isPossible(id) else { return nil }
    return AccountRecord(stored: try json(AccountPlaces.accounts, AccountPlaces.key(of: id)))
  }

  func account(email: String) throws(IdentityStop) -> AccountRecord? {
    try rows(AccountPlaces.accounts, "email", email, count: 1).first.flatMap {
      AccountRecord(stored: StoredIdentity.node($0))
    }
  }

  func account(phone: String) throws(IdentityStop) -> AccountRecord? {
    try rows(AccountPlaces.accounts, "phoneNumber", phone, count: 1).first.flatMap {
      AccountRecord(stored: StoredIdentity.node($0))
    }
  }

  func accounts(
    after id: String?, count: Int, isDescending: Bool
  ) throws(IdentityStop) -> [AccountRecord] {
    if let id, !StoredIdentity.isPossible(id) { return [] }
    let found = try reading { () throws(TreeError) in
      let query = try Query(AccountPlaces.path(AccountPlaces.accounts)).ordered(by: .key)
        .limited(to: count, from: isDescending ? .last : .first)
      var slice = RowSlice(query)
      if let id {
        let key = try Key(AccountPlaces.key(of: id))
        let bound = Query.Bound(IndexPosition(value: .null, key: .key(key)), isInclusive: false)
        if isDescending { slice.end = bound } else { slice.start = bound }
      }
      return try reader.rows(of: query.path, in: slice, detail: .full)
    }
    let records = found.compactMap { AccountRecord(stored: StoredIdentity.node($0)) }
    return isDescending ? records.reversed() : records
  }

  func accountCount() throws(IdentityStop) -> Int { try count(AccountPlaces.accounts) }

  /// The number of mails that are owed.
  func owedCount() throws(IdentityStop) -> Int { try count(AccountPlaces.mails) }

  /// A mail that is owed; nil if it is owed no more.
  func owedMail(_ id: String) throws(IdentityStop) -> OwedMail? {
    OwedMail(stored: try json(AccountPlaces.mails, id), id: id)
  }

  private func count(_ place: String) throws(IdentityStop) -> Int {
    let summary = try reading { () throws(TreeError) in
      try reader.summary(at: AccountPlaces.path(place))
    }
    if case .children(let count) = summary.kind { return count }
    return 0
  }

  func code(_ hash: String) throws(IdentityStop) -> MailedCode? {
    MailedCode(stored: try json(AccountPlaces.codes, hash), hash: hash)
  }

  func codes(of owner: String) throws(IdentityStop) -> [MailedCode] {
    try rows(AccountPlaces.codes, MailedCode.Field.owner, owner, count: 1000).compactMap { row in
      MailedCode(stored: StoredIdentity.node(row), hash: row.key.text)
    }
  }

  func codes(count: Int) throws(IdentityStop) -> [MailedCode] {
    let found = try reading { () throws(TreeError) in
      let query = try Query(AccountPlaces.path(AccountPlaces.codes))
        .ordered(byChild: MailedCode.Field.time).limited(to: count, from: .first)
      return try reader.rows(of: query.path, in: RowSlice(query), detail: .full)
    }
    return found.compactMap { row in
      MailedCode(stored: StoredIdentity.node(row), hash: row.key.text)
    }
  }

  func sessions(of account: String) throws(IdentityStop) -> [RefreshSession] {
    let stored = try json(AccountPlaces.sessions, AccountPlaces.key(of: account))
    return (stored.object ?? []).compactMap { member in
      RefreshSession(stored: member.value, hash: member.name, account: account)
    }
  }

  func settings() throws(IdentityStop) -> IdentitySettings {
    IdentitySettings(stored: try json(AccountPlaces.settings))
  }
}

extension IdentityDraft {
  /// The write that stores the changes.
  var write: Write {
    var members: [JSONMember] = []
    func set(_ place: String, _ key: String, _ value: JSONValue) {
      members.append(JSONMember(place + "/" + key, value))
    }
    if isWiping {
      for place in [
        AccountPlaces.accounts, AccountPlaces.codes, AccountPlaces.sessions, AccountPlaces.mails,
      ] {
        members.append(JSONMember(place, .null))
      }
      return .update(.root, members)
    }
    for (id, record) in accounts {
      set(AccountPlaces.accounts, AccountPlaces.key(of: id), record?.stored ?? .null)
    }
    for (hash, code) in codes { set(AccountPlaces.codes, hash, code?.stored ?? .null) }
    for (id, list) in sessions {
      set(
        AccountPlaces.sessions, AccountPlaces.key(of: id),
        list.isEmpty ? .null : .object(list.map { JSONMember($0.hash, $0.stored) }))
    }
    for (id, second) in revocations {
      let end = TokenEnd(second: second, epoch: epochs[id] ?? 0)
      set(AccountPlaces.revocations, AccountPlaces.key(of: id), end.stored)
    }
    for (id, mail) in owed { set(AccountPlaces.mails, id, mail?.stored ?? .null) }
    if let settings { members.append(JSONMember(AccountPlaces.settings, settings.stored)) }
    return .update(.root, members)
  }
}
