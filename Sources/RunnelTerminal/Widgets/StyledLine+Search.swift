extension StyledLine {
  /// The line with each occurrence of a text in a role, ignoring case.
  ///
  /// An occurrence may span several runs. The empty text occurs nowhere. O(n m) in the worst case.
  public func marking(_ text: String, _ role: StyleRole) -> StyledLine {
    let sought = Array(text.lowercased())
    guard !sought.isEmpty else { return self }
    let pieces = runs.flatMap { run in run.text.map { (character: $0, role: run.role) } }
    let lowered = pieces.map { Character($0.character.lowercased()) }
    var marked = [Bool](repeating: false, count: pieces.count)
    var start = 0
    while start + sought.count <= lowered.count {
      if lowered[start..<(start + sought.count)].elementsEqual(sought) {
        for index in start..<(start + sought.count) { marked[index] = true }
        start += sought.count
      } else {
        start += 1
      }
    }
    guard marked.contains(true) else { return self }
    var line = StyledLine()
    for (index, piece) in pieces.enumerated() {
      let role = marked[index] ? role : piece.role
      if line.runs.last?.role == role {
        line.runs[line.runs.count - 1].text.append(piece.character)
      } else {
        line.append(String(piece.character), role)
      }
    }
    return line
  }

  /// The line with the matches of a search in the role of matches, or of the current match.
  ///
  /// Without a search the line is unchanged.
  package func marking(_ search: String?, isCurrent: Bool) -> StyledLine {
    guard let search else { return self }
    return marking(search, isCurrent ? .searchCurrent : .searchMatch)
  }
}
