package import RunnelBase

/// An account, as it is stored.
///
/// Source: authentication, section 2.
package struct AccountRecord: Hashable, Sendable {
  /// The most bytes of an id.
  package static let idBytesMax = 128

  /// The id of the user.
  package var id: String
  /// The e-mail address, in small letters; no other account has it.
  package var email: String?
  package var isEmailVerified = false
  package var displayName: String?
  package var photoURL: String?
  /// The phone number; no other account has it.
  package var phoneNumber: String?
  package var password: PasswordHash?
  /// When the password was set, in milliseconds since 1970.
  package var passwordTime: Int64?
  /// Tokens that were issued before are not valid; in seconds since 1970.
  package var validSince: Int64?
  /// Grows whenever the sessions end.
  ///
  /// Tokens with a smaller one are not valid, whatever their second is. Emulators have none.
  package var epoch: Int64?
  package var isDisabled = false
  /// Milliseconds since 1970.
  package var lastLoginTime: Int64?
  /// Milliseconds since 1970.
  package var creationTime: Int64?
  /// When the last token was issued, in milliseconds since 1970.
  package var lastRefreshTime: Int64?
  /// The additional claims of each token: the JSON text of an object.
  package var customClaims: String?
  /// True if the account was made by a custom token.
  package var isCustom = false
  /// True if the user has signed in by a mailed link.
  package var hasEmailLink = false
  /// The first address, before it was changed.
  package var initialEmail: String?
  /// Entries of other providers, as they were imported.
  package var otherProviders: [JSONValue] = []

  package init(id: String) { self.id = id }

  /// True if nothing but the tokens of this account proves who its user is.
  package var isAnonymous: Bool {
    email == nil && phoneNumber == nil && !isCustom && otherProviders.isEmpty
  }
}

// MARK: In a file

extension AccountRecord {
  private enum Field {
    static let email = "email"
    static let isEmailVerified = "emailVerified"
    static let displayName = "displayName"
    static let photoURL = "photoUrl"
    static let phoneNumber = "phoneNumber"
    static let password = "password"
    static let passwordTime = "passwordUpdatedAt"
    static let validSince = "validSince"
    static let epoch = "epoch"
    static let isDisabled = "disabled"
    static let lastLoginTime = "lastLoginAt"
    static let creationTime = "createdAt"
    static let lastRefreshTime = "lastRefreshAt"
    static let customClaims = "customAttributes"
    static let isCustom = "customAuth"
    static let hasEmailLink = "emailLinkSignin"
    static let initialEmail = "initialEmail"
    static let otherProviders = "providers"
    /// Keeps a record without other members from being empty, which the tree would drop.
    static let id = "id"
  }

  /// Reads the stored form; nil if it is none.
  package init?(stored json: JSONValue) {
    guard let id = json[Field.id]?.string else { return nil }
    self.id = id
    email = json[Field.email]?.string
    isEmailVerified = json[Field.isEmailVerified]?.bool ?? false
    displayName = json[Field.displayName]?.string
    photoURL = json[Field.photoURL]?.string
    phoneNumber = json[Field.phoneNumber]?.string
    password = json[Field.password]?.string.flatMap(PasswordHash.init)
    passwordTime = json[Field.passwordTime].time
    validSince = json[Field.validSince].time
    epoch = json[Field.epoch].time
    isDisabled = json[Field.isDisabled]?.bool ?? false
    lastLoginTime = json[Field.lastLoginTime].time
    creationTime = json[Field.creationTime].time
    lastRefreshTime = json[Field.lastRefreshTime].time
    customClaims = json[Field.customClaims]?.string
    isCustom = json[Field.isCustom]?.bool ?? false
    hasEmailLink = json[Field.hasEmailLink]?.bool ?? false
    initialEmail = json[Field.initialEmail]?.string
    let text = json[Field.otherProviders]?.string
    // Text that is no JSON stands for no providers.
    otherProviders = text.flatMap { try? JSONValue(parsing: $0) }?.array ?? []
  }

  /// The stored form.
  package var stored: JSONValue {
    var members = MemberList()
    members.add(Field.id, id)
    members.add(Field.email, email)
    members.add(Field.isEmailVerified, ifTrue: isEmailVerified)
    members.add(Field.displayName, displayName)
    members.add(Field.photoURL, photoURL)
    members.add(Field.phoneNumber, phoneNumber)
    members.add(Field.password, password?.text)
    members.add(Field.passwordTime, passwordTime)
    members.add(Field.validSince, validSince)
    members.add(Field.epoch, epoch)
    members.add(Field.isDisabled, ifTrue: isDisabled)
    members.add(Field.lastLoginTime, lastLoginTime)
    members.add(Field.creationTime, creationTime)
    members.add(Field.lastRefreshTime, lastRefreshTime)
    members.add(Field.customClaims, customClaims)
    members.add(Field.isCustom, ifTrue: isCustom)
    members.add(Field.hasEmailLink, ifTrue: hasEmailLink)
    members.add(Field.initialEmail, initialEmail)
    if !otherProviders.isEmpty {
      members.add(Field.otherProviders, JSONValue.array(otherProviders).jsonText())
    }
    return .object(members.all)
  }
}

// MARK: For clients

extension AccountRecord {
  /// The text in place of a password's hash, as production shows it.
  package static let hiddenHash = "UkVEQUNURUQ="

  /// The entries of the providers by which the user can sign in.
  package var providers: [JSONValue] {
    var all: [JSONValue] = []
    if let email, password != nil || hasEmailLink {
      var entry = MemberList()
      entry.add("providerId", "password")
      entry.add("email", email)
      entry.add("federatedId", email)
      entry.add("rawId", email)
      entry.add("displayName", displayName)
      entry.add("photoUrl", photoURL)
      all.append(.object(entry.all))
    }
    if let phoneNumber {
      all.append([
        "providerId": "phone", "phoneNumber": .string(phoneNumber), "rawId": .string(phoneNumber),
      ])
    }
    return all + otherProviders
  }

  /// The account as the API shows it, with a placeholder in place of the password's hash.
  package var shown: JSONValue {
    var members = MemberList()
    members.add("localId", id)
    members.add("email", email)
    if email != nil || isEmailVerified { members.add("emailVerified", .bool(isEmailVerified)) }
    members.add("displayName", displayName)
    members.add("photoUrl", photoURL)
    members.add("phoneNumber", phoneNumber)
    members.add("passwordHash", password.map { _ in AccountRecord.hiddenHash })
    members.add("passwordUpdatedAt", passwordTime)
    members.add("validSince", validSince.map { String($0) })
    members.add("disabled", ifTrue: isDisabled)
    members.add("lastLoginAt", lastLoginTime.map { String($0) })
    members.add("createdAt", creationTime.map { String($0) })
    members.add("lastRefreshAt", lastRefreshTime.map(IdentityTime.text))
    members.add("customAttributes", customClaims)
    members.add("customAuth", ifTrue: isCustom)
    members.add("emailLinkSignin", ifTrue: hasEmailLink)
    members.add("initialEmail", initialEmail)
    if !providers.isEmpty { members.add("providerUserInfo", .array(providers)) }
    return .object(members.all)
  }
}

extension AccountRecord {
  /// The account with the hash of its password, for an export.
  package var exported: JSONValue {
    var members = (shown.object ?? []).filter {
      !["passwordHash", "lastRefreshAt"].contains($0.name)
    }
    if let password { members.append(JSONMember("passwordHash", .string(password.text))) }
    return .object(members)
  }
}

/// Members of an object, without those that have no value.
package struct MemberList: Hashable, Sendable {
  package private(set) var all: [JSONMember] = []

  package init() {}

  package mutating func add(_ name: String, _ text: String?) {
    if let text { all.append(JSONMember(name, .string(text))) }
  }

  package mutating func add(_ name: String, _ number: Int64?) {
    if let number { all.append(JSONMember(name, .number(JSONNumber(number)))) }
  }

  package mutating func add(_ name: String, ifTrue flag: Bool) {
    if flag { all.append(JSONMember(name, true)) }
  }

  package mutating func add(_ name: String, _ value: JSONValue?) {
    if let value { all.append(JSONMember(name, value)) }
  }
}

extension JSONValue? {
  /// A time; nil if there is none.
  package var time: Int64? { self?.int.map { Int64($0) } }
}
