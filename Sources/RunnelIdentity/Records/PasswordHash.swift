import RunnelBase

/// The cost of scrypt.
package struct ScryptCost: Hashable, Sendable {
  /// The cost of new hashes: 32 MiB, three times.
  ///
  /// Source: OWASP, "Password Storage Cheat Sheet".
  package static let standard = ScryptCost(logRounds: 15, blockSize: 8, parallelism: 3)
  /// The cost of new hashes of an emulator, whose accounts are for tests.
  package static let emulator = ScryptCost(logRounds: 10, blockSize: 8, parallelism: 1)

  /// The binary logarithm of the number of rounds, `N`.
  package var logRounds: Int
  /// The size of a block, `r`.
  package var blockSize: Int
  /// The parallelism, `p`.
  package var parallelism: Int

  package init(logRounds: Int, blockSize: Int, parallelism: Int) {
    (self.logRounds, self.blockSize, self.parallelism) = (logRounds, blockSize, parallelism)
  }

  /// True if a server can afford this cost: at most 1 GiB of memory, and a few seconds.
  package var isAffordable: Bool {
    guard (1...20).contains(logRounds), (1...32).contains(blockSize),
      (1...16).contains(parallelism)
    else { return false }
    return (128 << logRounds) * blockSize * parallelism <= 1 << 30
  }

  /// The work: the number of blocks that are mixed.
  package var work: Int { (1 << logRounds) * blockSize * parallelism }
}

/// The hash of a password, with all that is needed to check a password against it.
package struct PasswordHash: Hashable, Sendable {
  /// The function that makes the hash.
  package enum Function: Hashable, Sendable {
    case scrypt(ScryptCost)
    /// Firebase's function: scrypt makes a key, which encrypts the signer's key.
    case firebase(signerKey: [UInt8], separator: [UInt8], rounds: Int, logMemory: Int)
    case pbkdf2(rounds: Int)
    /// HMAC of the password and the salt, in this order unless `isSaltFirst`.
    case hmac(secret: [UInt8], isSaltFirst: Bool)
  }

  package var function: Function
  package var salt: [UInt8]
  package var key: [UInt8]

  package init(_ function: Function, salt: [UInt8], key: [UInt8]) {
    (self.function, self.salt, self.key) = (function, salt, key)
  }
}

// MARK: The work of a check

extension PasswordHash.Function {
  /// The smallest part of `parts`, as a logarithm of rounds.
  private static let logRoundsMin = 5

  /// The work of a check, in blocks of scrypt.
  package var work: Int {
    switch self {
    case .scrypt(let cost): cost.work
    case .firebase(_, _, let rounds, let logMemory): (1 << logMemory) * rounds
    // A round of two hashes takes about as long as a block.
    case .pbkdf2(let rounds): rounds
    case .hmac: 1
    }
  }

  /// The costs of scrypt that are together as much work as the check lacks to that of a cost.
  package func parts(upTo cost: ScryptCost) -> [ScryptCost] {
    var rest = max(0, cost.work - work)
    var parts: [ScryptCost] = []
    for logRounds in (Self.logRoundsMin...max(Self.logRoundsMin, cost.logRounds)).reversed() {
      let unit = (1 << logRounds) * cost.blockSize
      let count = rest / unit
      if count == 0 { continue }
      parts.append(
        ScryptCost(logRounds: logRounds, blockSize: cost.blockSize, parallelism: count))
      rest -= count * unit
    }
    return parts
  }
}

// MARK: As text

extension PasswordHash {
  private static let scryptName = "scrypt"
  private static let firebaseName = "firebase-scrypt"
  private static let pbkdf2Name = "pbkdf2-sha256"
  private static let hmacName = "hmac-sha256"

  /// The text form: `$scrypt$ln=15,r=8,p=3$SALT$KEY`.
  ///
  /// Source: "PHC string format".
  package var text: String {
    let parts: [String]
    switch function {
    case .scrypt(let cost):
      parts = [
        PasswordHash.scryptName,
        "ln=\(cost.logRounds),r=\(cost.blockSize),p=\(cost.parallelism)",
      ]
    case .firebase(let signerKey, let separator, let rounds, let logMemory):
      parts = [
        PasswordHash.firebaseName, "m=\(logMemory),t=\(rounds)", Base64URL.text(signerKey),
        Base64URL.text(separator),
      ]
    case .pbkdf2(let rounds): parts = [PasswordHash.pbkdf2Name, "i=\(rounds)"]
    case .hmac(let secret, let isSaltFirst):
      parts = [PasswordHash.hmacName, "s=\(isSaltFirst ? 1 : 0)", Base64URL.text(secret)]
    }
    let all = parts + [Base64URL.text(salt), Base64URL.text(key)]
    return "$" + all.joined(separator: "$")
  }

  /// Reads the text form; nil if the text is none, or its cost is too high.
  package init?(_ text: String) {
    let pieces = text.split(separator: "$", omittingEmptySubsequences: false)
    guard pieces.count >= 5, pieces[0].isEmpty,
      let salt = PasswordHash.bytes(pieces[pieces.count - 2]),
      let key = PasswordHash.bytes(pieces[pieces.count - 1]),
      let function = PasswordHash.function(pieces.dropFirst().dropLast(2))
    else { return nil }
    self.init(function, salt: salt, key: key)
    if !isUsable { return nil }
  }

  private static func function(_ pieces: ArraySlice<Substring>) -> Function? {
    let name = String(pieces[pieces.startIndex])
    let numbers = PasswordHash.numbers(pieces[pieces.startIndex + 1])
    let rest = pieces.dropFirst(2).map(PasswordHash.bytes)
    switch (name, rest.count) {
    case (scryptName, 0):
      guard let rounds = numbers["ln"], let size = numbers["r"], let parallelism = numbers["p"]
      else { return nil }
      return .scrypt(ScryptCost(logRounds: rounds, blockSize: size, parallelism: parallelism))
    case (firebaseName, 2):
      guard let memory = numbers["m"], let rounds = numbers["t"], let signer = rest[0],
        let separator = rest[1]
      else { return nil }
      return .firebase(
        signerKey: signer, separator: separator, rounds: rounds, logMemory: memory)
    case (pbkdf2Name, 0): return numbers["i"].map { .pbkdf2(rounds: $0) }
    case (hmacName, 1):
      guard let order = numbers["s"], let secret = rest[0] else { return nil }
      return .hmac(secret: secret, isSaltFirst: order == 1)
    default: return nil
    }
  }

  private static func numbers(_ text: Substring) -> [Substring: Int] {
    var numbers: [Substring: Int] = [:]
    for piece in text.split(separator: ",") {
      let halves = piece.split(separator: "=", maxSplits: 1)
      if halves.count == 2, let number = Int(halves[1]) { numbers[halves[0]] = number }
    }
    return numbers
  }

  private static func bytes(_ text: Substring) -> [UInt8]? { Base64URL.bytes(text.utf8) }

  /// True if a password can be checked against the hash in acceptable time.
  package var isUsable: Bool {
    guard (8...256).contains(key.count), salt.count <= 1024 else { return false }
    switch function {
    case .scrypt(let cost): return cost.isAffordable
    case .firebase(let signerKey, let separator, let rounds, let logMemory):
      return !signerKey.isEmpty && signerKey.count <= 256 && separator.count <= 256
        && (1...8).contains(rounds) && (1...14).contains(logMemory)
    case .pbkdf2(let rounds): return (1...1_000_000).contains(rounds)
    case .hmac(let secret, _): return !secret.isEmpty && secret.count <= 1024
    }
  }
}

// MARK: Importing

extension PasswordHash {
  /// The names of the functions whose hashes can be imported.
  package static let importNames = ["SCRYPT", "STANDARD_SCRYPT", "PBKDF2_SHA256", "HMAC_SHA256"]

  /// Reads the function of imported hashes.
  ///
  /// - Throws: `IdentityStop` with the name of the function that is not known, or the parameter that
  ///   is wrong.
  package static func function(imported fields: CallFields) throws(IdentityStop) -> Function? {
    guard let name = try fields.text("hashAlgorithm") else { return nil }
    let secret = try bytes("signerKey", fields) ?? []
    let rounds = try fields.int("rounds") ?? 0
    let (cpuCost, memoryCost) = (try fields.int("cpuMemCost"), try fields.int("memoryCost"))
    let memory = cpuCost ?? memoryCost ?? 0
    switch name {
    case "SCRYPT":
      return .firebase(
        signerKey: secret, separator: try bytes("saltSeparator", fields) ?? [],
        rounds: Int(clamping: rounds), logMemory: Int(clamping: memory))
    case "STANDARD_SCRYPT":
      guard memory > 1, memory & (memory - 1) == 0 else {
        throw .refused("INVALID_HASH_MEMORY_COST : The memory cost must be a power of two")
      }
      return .scrypt(
        ScryptCost(
          logRounds: memory.trailingZeroBitCount,
          blockSize: Int(clamping: try fields.int("blockSize") ?? 8),
          parallelism: Int(clamping: try fields.int("parallelization") ?? 1)))
    case "PBKDF2_SHA256": return .pbkdf2(rounds: Int(clamping: rounds))
    case "HMAC_SHA256":
      return .hmac(
        secret: secret, isSaltFirst: try fields.text("passwordHashOrder") == "SALT_AND_PASSWORD")
    default:
      throw .refused(
        "INVALID_HASH_ALGORITHM : \(name.prefix(50)) is not known here: "
          + "\(importNames.joined(separator: ", ")) are")
    }
  }

  private static func bytes(_ name: String, _ fields: CallFields) throws(IdentityStop) -> [UInt8]? {
    guard let text = try fields.text(name) else { return nil }
    guard let bytes = bytes(base64: text) else {
      throw .refused("INVALID_ARGUMENT : \(name) is not Base64")
    }
    return bytes
  }

  /// Reads Base64 in both alphabets, with padding or without.
  package static func bytes(base64 text: String) -> [UInt8]? {
    var characters = Array(text.utf8)
    while characters.last == UInt8(ascii: "=") { characters.removeLast() }
    for (index, character) in characters.enumerated() {
      if character == UInt8(ascii: "+") { characters[index] = UInt8(ascii: "-") }
      if character == UInt8(ascii: "/") { characters[index] = UInt8(ascii: "_") }
    }
    return Base64URL.bytes(characters)
  }
}
