import RunnelBase
package import RunnelTree

extension UnsafeBufferPointer<UInt8> {
  /// The bytes of a text without the byte order mark before it.
  package var withoutMark: Self {
    starts(with: [0xEF, 0xBB, 0xBF]) ? Self(rebasing: dropFirst(3)) : self
  }
}

extension OpenedFile {
  /// The greatest number of members that tell where they are in the tree.
  private static let membersMax = 50

  /// The place of the records of a file that is a list of them.
  package static func collection(ofFile file: String) -> Path {
    let name = file.split(separator: "/").last ?? ""
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
    return Path(unchecked: [WritableKey.key(of: stem.isEmpty ? "data" : String(stem))])
  }

  /// Finds the place in the tree of what a file holds.
  ///
  /// The tree is asked first, since edits may make the document look like the other kind.
  ///
  /// - Parameters:
  ///   - file: the name of the file.
  ///   - document: the bytes of the file as it is now.
  ///   - isThere: whether the tree has something at a place.
  /// - Returns: The collection if the file is a list of records, otherwise the root.
  package static func place(
    ofFile file: String, _ document: UnsafeBufferPointer<UInt8>, isThere: (Path) -> Bool
  ) -> Path {
    let collection = collection(ofFile: file)
    guard ExportFormat(fileName: file) == .json else { return collection }
    let isList = isListOfRecords(document)
    if !isThere(collection) { return isList && !isThere(.root) ? collection : .root }
    guard let keys = firstKeys(of: document) else { return collection }
    let inRoot = keys.count { isThere(Path(unchecked: [$0])) }
    let inCollection = keys.count { isThere(Path(unchecked: collection.keys + [$0])) }
    if inRoot != inCollection { return inRoot < inCollection ? collection : .root }
    return isList || !collection.keys.contains(where: keys.contains) ? collection : .root
  }

  /// The keys of the first members of a document that is an object; nil for another one.
  private static func firstKeys(of bytes: UnsafeBufferPointer<UInt8>) -> [Key]? {
    var scanner = JSONScanner(bytes.withoutMark)
    var keys: [Key] = []
    do {
      guard try scanner.peekKind() == .object else { return nil }
      try scanner.enterObject()
      while keys.count < membersMax, let name = try scanner.nextMember() {
        keys.append(WritableKey.key(of: name))
        try scanner.skipValue()
      }
    } catch {
      // What can be read of it tells enough.
    }
    return keys
  }

  /// Whether a document is a list: an array, or an object whose first members are objects with a field
  /// in common.
  ///
  /// A malformed document is none.
  package static func isListOfRecords(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var scanner = JSONScanner(bytes.withoutMark)
    do {
      guard try scanner.peekKind() == .object else { return true }
      try scanner.enterObject()
      var common: Set<String>?
      var count = 0
      while count < 5, try scanner.nextMember() != nil {
        guard try scanner.peekKind() == .object else { return false }
        let fields = try leafNames(&scanner)
        common = common?.intersection(fields) ?? fields
        count += 1
      }
      return count > 1 && common?.isEmpty == false
    } catch {
      return false
    }
  }

  private static func leafNames(_ scanner: inout JSONScanner) throws(JSONError) -> Set<String> {
    var names: Set<String> = []
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      switch try scanner.peekKind() {
      case .object, .array, .null: break
      case .bool, .number, .string: names.insert(name)
      }
      try scanner.skipValue()
    }
    return names
  }
}
