import ArgumentParser

/// `runnel GROUP help COMMAND`, which means what `runnel help GROUP COMMAND` does.
enum HelpWords {
  /// Returns the words with a `help` behind the names of groups put before them; other words as they are.
  static func reordered(_ words: [String]) -> [String] {
    var command: any ParsableCommand.Type = MainCommand.self
    for (index, word) in words.enumerated() {
      let parts = command.configuration.subcommands
      if word == "help", index > 0, !parts.isEmpty {
        return ["help"] + words[..<index] + words[(index + 1)...]
      }
      guard let next = parts.first(where: { $0._commandName == word }) else { return words }
      command = next
    }
    return words
  }
}
