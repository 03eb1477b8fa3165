public import RunnelBase

/// Hashes of the ranges into which the leaves of a tree are cut.
///
/// With them two parties that hold nearly the same find out which ranges differ.
///
/// Post i is the position of the last leaf of range i. Hash i covers the leaves after post i-1, up
/// to and including post i. The last hash covers what comes after the last post; it is empty in a
/// hash that was made by size. A range without leaves has an empty hash.
///
/// The priority of a node with children has its place among the children, or comes after them if
/// all their keys are less; it is never left out.
///
/// Invariants:
/// - I1. There is one hash more than there are posts.
/// - I2. Posts ascend.
///
/// Source: tree semantics, section 16.2.
public struct CompoundHash: Hashable, Sendable {
  /// The last positions of the ranges, ascending.
  public let posts: [LeafPosition]
  /// The hashes of the ranges: one more than there are posts.
  public let hashes: [String]

  /// Cuts a tree into ranges whose size follows from its own.
  ///
  /// `textMin` is the least number of UTF-16 code units after which the text of a range may end. O(n) in
  /// the tree.
  public init(_ node: Node, textMin: Int = 512) {
    let textMax = max(textMin, Int((100 * Double(node.estimatedSize)).squareRoot()))
    self.init(node) { position, count in !position.isPriority && count > textMax }
  }

  /// Cuts a tree after each leaf for which `splits` is true; it is given the position of the leaf
  /// and the number of UTF-16 code units in the text of its range so far.
  init(_ node: Node, splits: (LeafPosition, Int) -> Bool) {
    var posts: [LeafPosition] = []
    var hashes: [String] = []
    var range = RangeText()
    var last: LeafPosition?
    node.forEachLeaf { leaf in
      range.add(leaf)
      let position = LeafPosition(keys: leaf.keys)
      last = position
      if splits(position, range.utf16Count) {
        posts.append(position)
        hashes.append(range.hash())
        range = RangeText()
      }
    }
    if !range.isEmpty, let last {
      posts.append(last)
      hashes.append(range.hash())
    }
    self.posts = posts
    self.hashes = hashes + [""]
  }

  /// Cuts a tree into ranges with the given posts, which ascend.
  ///
  /// O(n) in the tree.
  public init(_ node: Node, posts: [LeafPosition]) {
    precondition(CompoundHash.ascend(posts), "I2: the posts ascend.")
    var hashes: [String] = []
    var range = RangeText()
    node.forEachLeaf { leaf in
      let position = LeafPosition(keys: leaf.keys)
      while hashes.count < posts.count, posts[hashes.count] < position {
        hashes.append(range.hash())
        range = RangeText()
      }
      range.add(leaf)
    }
    hashes.append(range.hash())
    let missing = posts.count + 1 - hashes.count
    self.posts = posts
    self.hashes = hashes + Array(repeating: "", count: missing)
  }

  private static func ascend(_ posts: [LeafPosition]) -> Bool {
    zip(posts, posts.dropFirst()).allSatisfy(<)
  }
}

// MARK: On the wire

extension CompoundHash {
  /// The names of its members on the wire.
  private enum Name {
    static let hashes = "hs"
    static let posts = "ps"
  }

  /// The hash as it is sent: `{"hs":[hash...],"ps":[post...]}`.
  public var json: JSONValue {
    [
      Name.hashes: .array(hashes.map(JSONValue.string)),
      Name.posts: .array(posts.map { .string($0.description) }),
    ]
  }

  /// Reads a hash as it is sent.
  ///
  /// - Throws: `TreeError` that says which member is wrong.
  public init(json: JSONValue) throws(TreeError) {
    hashes = try CompoundHash.strings(Name.hashes, of: json)
    var posts: [LeafPosition] = []
    for text in try CompoundHash.strings(Name.posts, of: json) {
      posts.append(try LeafPosition(text))
    }
    self.posts = posts
    guard hashes.count == posts.count + 1 else {
      throw TreeError(
        .invalidValue,
        "A compound hash has one hash in \"hs\" more than posts in \"ps\": there are "
          + "\(hashes.count) and \(posts.count).")
    }
    guard CompoundHash.ascend(posts) else {
      throw TreeError(.invalidValue, "The posts in \"ps\" of a compound hash must ascend.")
    }
  }

  private static func strings(
    _ name: String, of json: JSONValue
  ) throws(TreeError) -> [String] {
    guard case .array(let elements)? = json[name] else { throw noStrings(name) }
    var strings: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw noStrings(name) }
      strings.append(text)
    }
    return strings
  }

  private static func noStrings(_ name: String) -> TreeError {
    TreeError(.invalidValue, "\"\(name)\" of a compound hash is an array of strings.")
  }
}

// MARK: Text

/// The text of a range of leaves, which is hashed while it is written.
///
/// Each key on the way to a leaf opens a parenthesis, and the next leaf closes it unless the key
/// leads to that leaf too. So the text follows from the leaves of the range alone.
struct RangeText {
  private var digest = TextDigest()
  private var open: [Key] = []
  /// True if no leaf was added.
  private(set) var isEmpty = true

  /// The number of UTF-16 code units written, without the parentheses that are still open.
  var utf16Count: Int { digest.utf16Count }

  /// Adds the next leaf of the range.
  mutating func add(_ leaf: PlacedLeaf) {
    var shared = 0
    if isEmpty {
      digest.append("(")
    } else {
      while shared < min(open.count, leaf.keys.count), open[shared] == leaf.keys[shared] {
        shared += 1
      }
      digest.append(String(repeating: ")", count: open.count - shared) + ",")
    }
    for key in leaf.keys[shared...] {
      digest.appendQuoted(key.text)
      digest.append(":(")
    }
    if let priority = leaf.priority {
      digest.append("priority:")
      digest.append(quoting: priority)
      digest.append(":")
    }
    digest.append(quoting: leaf.value)
    open = leaf.keys
    isEmpty = false
  }

  /// The hash of the range; empty if it has no leaves.
  consuming func hash() -> String {
    if isEmpty { return "" }
    digest.append(String(repeating: ")", count: open.count + 1))
    return digest.base64()
  }
}

extension TextDigest {
  /// Adds the text of a leaf's value; a string is quoted.
  fileprivate mutating func append(quoting leaf: Leaf) {
    switch leaf {
    case .bool, .number: append(leaf)
    case .string(let value):
      append("string:")
      appendQuoted(value)
    }
  }
}

// MARK: Size

extension Node {
  /// The approximate size of the node on the wire in bytes, as the split rule counts it.
  ///
  /// Source: tree semantics, section 16.2.
  var estimatedSize: Int {
    switch content {
    case .empty: return 4
    case .leaf(let leaf): return leaf.estimatedSize + (priority.map { 24 + $0.estimatedSize } ?? 0)
    case .children(let children):
      let ofPriority = priority.map { ReservedName.priority.utf16.count + 4 + $0.estimatedSize }
      return children.reduce(1 + (ofPriority ?? 0)) {
        $0 + $1.key.text.utf16.count + 4 + $1.node.estimatedSize
      }
    }
  }
}

extension Leaf {
  fileprivate var estimatedSize: Int {
    switch self {
    case .bool: 4
    case .number: 8
    case .string(let text): 2 + text.utf16.count
    }
  }
}
