import RunnelStorage
import Testing

@testable import RunnelDatabase

/// The checksums of rows: the published hash, and every bit counts.
@Suite struct ChecksumTests {
  /// Source: https://github.com/wangyi-fudan/wyhash, `test_vector.cpp`; the seed is the index.
  private static let vectors: [(String, UInt64)] = [
    ("", 0x9322_8a4d_e0ee_c5a2), ("a", 0xc5ba_c3db_1787_13c4), ("abc", 0xa97f_2f7b_1d9b_3314),
    ("message digest", 0x786d_1f1d_f380_1df4),
    ("abcdefghijklmnopqrstuvwxyz", 0xdca5_a813_8ad3_7c87),
    (
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      0xb9e7_34f1_17cf_af70
    ), (String(repeating: "1234567890", count: 8), 0x6cc5_eab4_9a92_d617),
  ]

  @Test func theHashIsWyhash() {
    for (seed, vector) in ChecksumTests.vectors.enumerated() {
      let hash = Array(vector.0.utf8).withUnsafeBytes { Checksum.hash($0, seed: UInt64(seed)) }
      #expect(hash == vector.1, "\(vector.0)")
    }
  }

  /// Made with the program of the same source; the bytes are 0, 1, 2 and so on, the seed is 7.
  @Test(
    arguments: [
      (3, 0x1ce7_ae75_23ce_9850), (16, 0xc4f3_d94e_ba74_b559), (17, 0x0caa_8f7b_d43c_90b1),
      (48, 0x2d36_9a16_3988_9127), (49, 0xd1fb_644e_d2bc_0827), (96, 0xf009_8522_25d5_74e9),
      (1024, 0x5421_7187_2b2c_a1c0),
    ] as [(Int, UInt64)])
  func theHashIsThatOfItsSourceAtEachBorder(count: Int, hash: UInt64) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    #expect(bytes.withUnsafeBytes { Checksum.hash($0, seed: 7) } == hash)
  }

  @Test(arguments: [1, 3, 4, 8, 16, 17, 33, 48, 100])
  func everyBitOfARowChangesItsChecksum(count: Int) {
    let id = RowID(parent: 7, key: [2, 97, 0])
    let record = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    let checksum = id.checksum(record: record)
    for bit in 0..<count * 8 {
      var changed = record
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(id.checksum(record: changed) != checksum, "bit \(bit)")
    }
    for bit in 0..<24 {
      var other = id
      other.key[bit / 8] ^= 1 << (bit % 8)
      #expect(other.checksum(record: record) != checksum, "bit \(bit) of the key")
    }
    for bit in 0..<64 {
      let other = RowID(parent: id.parent ^ 1 << Int64(bit), key: id.key)
      #expect(other.checksum(record: record) != checksum, "bit \(bit) of the parent")
      #expect(id.checksum(split: 5) != id.checksum(split: 5 ^ 1 << Int64(bit)))
    }
  }

  @Test func everyBitOfAHeadChangesItsChecksum() {
    for priority in [nil, Array("5".utf8)] {
      let checksum = Checksum.head(3, children: 40, priority: priority)
      for bit in 0..<64 as Range<Int64> {
        #expect(Checksum.head(3, children: 40 ^ 1 << bit, priority: priority) != checksum)
        #expect(Checksum.head(3 ^ 1 << bit, children: 40, priority: priority) != checksum)
      }
    }
    #expect(
      Checksum.head(3, children: 1, priority: nil) != Checksum.head(3, children: 1, priority: []))
  }

  @Test func countingAChildIsAnAddition() {
    let before = Checksum.head(9, children: 1_000_000, priority: nil)
    #expect(
      Checksum.head(9, children: 1_000_001, priority: nil) == before + Checksum.ofChild)
  }
}
