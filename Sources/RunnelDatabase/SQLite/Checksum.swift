/// The checksums of stored rows, which reveal changed bytes when a row is read.
///
/// The checksum of a row of `node` covers the whole row. That of a row of `split` is a sum of two
/// terms, so that counting another child is an addition: the hash of its id and priority, and the
/// number of children times a constant. `FORMAT.md` specifies both.
///
/// Checksums find damage, not forgery: a program that can write the file can write a checksum.
enum Checksum {
  /// The amount that each child adds to the checksum of a split node: a prime near 2^32 divided by
  /// the golden ratio, so that counts which differ by a few bits have very different checksums.
  static let ofChild: Int64 = 0x9E37_79B1

  /// The checksum of a record's row.
  static func record(
    _ json: UnsafeRawBufferPointer, parent: Int64, key: UnsafeRawBufferPointer
  ) -> Int64 {
    short(hash(json, seed: place(parent, key)))
  }

  /// The checksum of the row that names a split node.
  static func name(_ split: Int64, parent: Int64, key: UnsafeRawBufferPointer) -> Int64 {
    // The seed differs, so that no record of eight bytes has the checksum of a name.
    short(hash(split, seed: ~place(parent, key)))
  }

  /// The checksum of a split node's row; `priority` is the JSON of its priority, nil if it has
  /// none.
  static func head(_ split: Int64, children: Int64, priority: [UInt8]?) -> Int64 {
    let seed = UInt64(bitPattern: split)
    let content =
      priority.map { $0.withUnsafeBytes { hash($0, seed: seed) } } ?? hash(split, seed: ~seed)
    // A damaged count may be any number, and must not overflow.
    return Int64(UInt32(truncatingIfNeeded: short(content))) &+ children &* ofChild
  }

  private static func place(_ parent: Int64, _ key: UnsafeRawBufferPointer) -> UInt64 {
    hash(key, seed: UInt64(bitPattern: parent))
  }

  /// The 32 bits of a hash that are stored; SQLite stores them in four bytes.
  private static func short(_ hash: UInt64) -> Int64 {
    Int64(Int32(truncatingIfNeeded: hash ^ (hash >> 32)))
  }

  // MARK: wyhash

  private static let secret: (UInt64, UInt64, UInt64, UInt64) = (
    0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3, 0x4d5a_2da5_1de1_aa47
  )

  /// The hash of some bytes: wyhash, final version 4, with its default secret.
  ///
  /// It was chosen for its few steps: records are short, and each read of a record pays for it.
  ///
  /// Source: https://github.com/wangyi-fudan/wyhash (public domain), by its description; tests compare
  /// with its vectors.
  static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = bytes.count
    var seed = seed ^ mix(seed ^ secret.0, secret.1)
    if count <= 16 {
      let (first, last) = ends(of: bytes)
      return finish(first, last, seed, count)
    }
    var start = 0
    if count >= 48 { start = mixLong(bytes, &seed) }
    while count - start > 16 {
      seed = mix(word(bytes, start) ^ secret.1, word(bytes, start + 8) ^ seed)
      start += 16
    }
    return finish(word(bytes, count - 16), word(bytes, count - 8), seed, count)
  }

  /// The hash of the eight bytes of a number, least significant first.
  private static func hash(_ number: Int64, seed: UInt64) -> UInt64 {
    withUnsafeBytes(of: number.littleEndian) { hash($0, seed: seed) }
  }

  /// Hashes 48 bytes at a time; returns the offset of the rest.
  private static func mixLong(_ bytes: UnsafeRawBufferPointer, _ seed: inout UInt64) -> Int {
    var (second, third) = (seed, seed)
    var start = 0
    repeat {
      seed = mix(word(bytes, start) ^ secret.1, word(bytes, start + 8) ^ seed)
      second = mix(word(bytes, start + 16) ^ secret.2, word(bytes, start + 24) ^ second)
      third = mix(word(bytes, start + 32) ^ secret.3, word(bytes, start + 40) ^ third)
      start += 48
    } while bytes.count - start >= 48
    seed ^= second ^ third
    return start
  }

  /// The first and last bytes of at most 16, as two words that cover all of them.
  private static func ends(of bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
    let count = bytes.count
    if count >= 4 {
      let step = (count >> 3) << 2
      return (
        (half(bytes, 0) << 32) | half(bytes, step),
        (half(bytes, count - 4) << 32) | half(bytes, count - 4 - step)
      )
    }
    if count == 0 { return (0, 0) }
    let (first, middle, last) = (bytes[0], bytes[count >> 1], bytes[count - 1])
    return ((UInt64(first) << 16) | (UInt64(middle) << 8) | UInt64(last), 0)
  }

  private static func finish(
    _ first: UInt64, _ last: UInt64, _ seed: UInt64, _ count: Int
  ) -> UInt64 {
    let product = (first ^ secret.1).multipliedFullWidth(by: last ^ seed)
    return mix(product.low ^ secret.0 ^ UInt64(count), product.high ^ secret.1)
  }

  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.low ^ product.high
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}
