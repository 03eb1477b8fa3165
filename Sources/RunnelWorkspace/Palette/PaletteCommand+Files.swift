extension PaletteCommand {
  /// The commands that write and read files.
  package static let files: [PaletteCommand] = [
    PaletteCommand(
      name: "export", hint: "[FORMAT] [FILE]", key: .dataExport,
      description: "write the view or the node to a file", argument: .text,
      choices: { _, text in
        text.contains(" ") ? [] : ExportFormat.allCases.map { Choice(argument: $0.rawValue) }
      },
      run: { state, text in
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let file = words.count > 1 ? words[1] : nil
        guard let first = words.first else {
          Exporting.openExport(&state)
          return nil
        }
        if let format = ExportFormat(rawValue: first) {
          Exporting.openExport(&state, format, file: file, beginsAtOnce: file != nil)
          return nil
        }
        guard let format = ExportFormat(fileName: text) else {
          return "the formats are \(ExportFormat.names), or the end of a name tells one: notes.csv"
        }
        Exporting.openExport(&state, format, file: text)
        return nil
      }),
    PaletteCommand(
      name: "import", hint: "FILE", key: .dataImport,
      description: "add the records of a file to the view", argument: .text,
      run: { state, file in
        Importing.openImport(&state, file)
        return nil
      }),
    saveCopy,
  ]
}
