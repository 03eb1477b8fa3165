import Foundation
import RunnelBase
import RunnelIdentity
@testable import RunnelServer
import Synchronization
import TestSupport
import Testing

/// The functions of passwords, and the threads that work with them.
@Suite struct PasswordPoolTests {
  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { start in
      UInt8(hex.dropFirst(start).prefix(2), radix: 16)
    }
  }

  /// Source: RFC 7914, section 12.
  @Test func scryptIsThatOfTheStandard() throws {
    let hash = PasswordHash(
      .scrypt(ScryptCost(logRounds: 10, blockSize: 8, parallelism: 16)),
      salt: Array("NaCl".utf8),
      key: bytes(
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff1"
          + "09279d9830dac727afb94a83ee6d8360cbdfa2cc0640"))
    #expect(try PasswordFunctions.verify("password", hash))
    #expect(try !PasswordFunctions.verify("Password", hash))
  }

  /// Source: Firebase, "scrypt", the example of its README.
  @Test func firebasesScryptIsThatOfItsExample() throws {
    let function = PasswordHash.Function.firebase(
      signerKey: PasswordHash.bytes(
        base64:
          "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
      ) ?? [],
      separator: PasswordHash.bytes(base64: "Bw==") ?? [], rounds: 8, logMemory: 14)
    let hash = PasswordHash(
      function, salt: PasswordHash.bytes(base64: "42xEC+ixf3L2lw==") ?? [],
      key: PasswordHash.bytes(
        base64:
          "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
      ) ?? [])
    #expect(hash.isUsable)
    #expect(try PasswordFunctions.verify("user1password", hash))
    #expect(try !PasswordFunctions.verify("user2password", hash))
  }

  /// Source: RFC 7914, section 11.
  @Test func pbkdf2IsThatOfTheStandard() throws {
    let right = PasswordHash(
      .pbkdf2(rounds: 1), salt: Array("salt".utf8), key: bytes("55ac046e56e3089f"))
    #expect(try PasswordFunctions.verify("passwd", right))
    #expect(try !PasswordFunctions.verify("passwe", right))
  }

  /// Source: RFC 4231, test case 2.
  @Test func hmacIsThatOfTheStandard() throws {
    let key = bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let secret = Array("Jefe".utf8)
    let after = PasswordHash(
      .hmac(secret: secret, isSaltFirst: false), salt: Array(" for nothing?".utf8), key: key)
    #expect(try PasswordFunctions.verify("what do ya want", after))
    let before = PasswordHash(
      .hmac(secret: secret, isSaltFirst: true), salt: Array("what do ya want".utf8), key: key)
    #expect(try PasswordFunctions.verify(" for nothing?", before))
  }

  /// A wrong password takes the work of an unknown account, whichever function made the hash.
  @Test func theWorkOfACheckIsTheSameForAllFunctions() throws {
    let functions: [PasswordHash.Function] = [
      .hmac(secret: [1], isSaltFirst: true), .pbkdf2(rounds: 100_000),
      .scrypt(ScryptCost(logRounds: 10, blockSize: 8, parallelism: 1)),
      .firebase(signerKey: [1], separator: [1], rounds: 8, logMemory: 14), .scrypt(.standard),
    ]
    for cost in [ScryptCost.standard, ScryptCost(logRounds: 14, blockSize: 8, parallelism: 5)] {
      for function in functions where function.work <= cost.work {
        let parts = function.parts(upTo: cost)
        let lack = cost.work - function.work - parts.reduce(0) { $0 + $1.work }
        #expect((0..<256).contains(lack), "\(function)")
        #expect(parts.allSatisfy { $0.isAffordable })
        for part in parts where part.logRounds < 8 {
          try PasswordFunctions.pretend("secret", part)
        }
      }
      #expect(PasswordHash.Function.scrypt(cost).parts(upTo: cost).isEmpty)
    }
    // A dearer one stays dearer.
    #expect(PasswordHash.Function.scrypt(.standard).parts(upTo: .emulator).isEmpty)
  }

  @Test func aNewHashFitsItsPasswordOnly() throws {
    let hash = try PasswordFunctions.make("secret", .emulator)
    #expect(try PasswordFunctions.verify("secret", hash))
    #expect(try !PasswordFunctions.verify("Secret", hash))
    #expect(try PasswordFunctions.make("secret", .emulator) != hash)
    #expect(PasswordHash(hash.text) == hash)
  }

  @Test func workBeyondTheQueueIsRefused() async throws {
    let pool = try PasswordPool(cost: ScryptCost(logRounds: 11, blockSize: 8, parallelism: 1))
    let answers = Mutex(0)
    var takenCount = 0
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      var taken: [Bool] = []
      let total = Mutex<Int?>(nil)
      let finished = Mutex(false)
      @Sendable func look() {
        let isAll = total.withLock { total in answers.withLock { $0 } == total }
        if isAll,
          !finished.withLock({ value in
            let old = value; value = true; return old
          })
        {
          done.resume()
        }
      }
      for number in 0..<200 {
        taken.append(
          pool.submit([.make("password \(number)")], for: "a") { _ in
            answers.withLock { $0 += 1 }
            look()
          })
      }
      takenCount = taken.count { $0 }
      total.withLock { $0 = takenCount }
      look()
    }
    #expect(takenCount >= PasswordPool.waitingMax + 2)
    #expect(takenCount < 200)
    #expect(answers.withLock { $0 } == takenCount)
  }

  @Test func oneWhoChecksAPasswordDoesNotWaitForAllWhoMakeOne() async throws {
    let pool = try PasswordPool(cost: ScryptCost(logRounds: 10, blockSize: 8, parallelism: 1))
    let ends = Mutex<[String]>([])
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      @Sendable func end(_ name: String) {
        let isAll = ends.withLock { ends in
          ends.append(name)
          return ends.count == 42
        }
        if isAll { done.resume() }
      }
      for number in 0..<40 {
        _ = pool.submit([.make("password \(number)")], for: "a") { _ in end("make") }
      }
      _ = pool.submit([.verify("password", nil)], for: "a") { _ in end("check") }
      _ = pool.submit([.make("password")], for: "b") { _ in end("other") }
    }
    let (check, other) = ends.withLock { ($0.firstIndex(of: "check"), $0.firstIndex(of: "other")) }
    // The submitting takes no longer than a few of the hashes.
    #expect(try #require(check) < 30)
    #expect(try #require(other) < 30)
  }
}
