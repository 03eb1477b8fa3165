/// The members in a JSON document that have the name of an earlier one in their object: the last one counts.
package struct RepeatedMembers: Hashable, Sendable {
  /// How many members do not count, because a later one has their name.
  package private(set) var count = 0
  /// The place of the first repetition, as a path; empty if there is none.
  private var first = ""
  /// Where the first repetition stands.
  private var firstOffset = Int.max

  /// An object or array that has begun and not ended.
  private struct Container {
    var isObject: Bool
    /// The member or the element that is being read.
    var name = 0..<0
    var element = 0
    /// The first of the names in `Names`.
    var start: Int
  }

  /// A name in the document.
  private struct Name {
    var hash: Int
    var range: Range<Int>
  }

  /// Looks at a document that was parsed without an error; of other bytes, anything may be counted.
  ///
  /// O(n log n) in the bytes, with memory for the names of one object and those around it.
  package init(in bytes: UnsafeBufferPointer<UInt8>) {
    var containers: [Container] = []
    var names: [Name] = []
    var string = 0..<0
    var index = 0
    while index < bytes.count {
      let last = containers.count - 1
      switch bytes[index] {
      case JSONByte.quote:
        let end = EmptyContainers.end(ofStringAt: index, in: bytes)
        string = index..<end
        index = end
        continue
      case JSONByte.colon where last >= 0:
        containers[last].name = string
        names.append(Name(hash: RepeatedMembers.hash(of: string, in: bytes), range: string))
      case JSONByte.comma where last >= 0: containers[last].element += 1
      case JSONByte.objectStart:
        containers.append(Container(isObject: true, start: names.count))
      case JSONByte.arrayStart:
        containers.append(Container(isObject: false, start: names.count))
      case JSONByte.objectEnd where last >= 0, JSONByte.arrayEnd where last >= 0:
        let ended = containers.removeLast()
        if names.count > ended.start + 1 {
          names[ended.start...].sort {
            ($0.hash, $0.range.lowerBound) < ($1.hash, $1.range.lowerBound)
          }
          note(names[ended.start...], in: containers, bytes)
        }
        names.removeSubrange(ended.start...)
      default: break
      }
      index += 1
    }
  }

  /// What is said about them, as a sentence; nil if there are none.
  package var sentence: String? {
    let place = ControlCharacters.escapedLine(first)
    return switch count {
    case 0: nil
    case 1: "1 member has the name of an earlier one in its object, \(place): the last one counts."
    default:
      "\(count) members have the name of an earlier one in their object, the first is \(place): the last "
        + "one counts."
    }
  }

  /// Notes the repetitions among the names of an object, of which the same ones stand together.
  private mutating func note(
    _ names: ArraySlice<Name>, in containers: [Container], _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    for (name, next) in zip(names, names.dropFirst()) where name.hash == next.hash {
      let text = RepeatedMembers.text(of: next.range, in: bytes)
      guard RepeatedMembers.text(of: name.range, in: bytes) == text else { continue }
      count += 1
      guard next.range.lowerBound < firstOffset else { continue }
      firstOffset = next.range.lowerBound
      let above = containers.map {
        $0.isObject ? RepeatedMembers.text(of: $0.name, in: bytes) : String($0.element)
      }
      first = (above + [text]).map { "/" + $0 }.joined()
    }
  }

  private static func hash(of string: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var hasher = Hasher()
    if bytes[string].contains(JSONByte.backslash) {
      var text = text(of: string, in: bytes)
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    } else {
      let content = string.count < 2 ? string : (string.lowerBound + 1)..<(string.upperBound - 1)
      hasher.combine(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[content])))
    }
    return hasher.finalize()
  }

  /// The text of a string with its quotes; empty if it is none.
  private static func text(of string: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    let literal = UnsafeBufferPointer(rebasing: bytes[string])
    return (try? JSONValue(parsing: literal))?.string ?? ""
  }
}
