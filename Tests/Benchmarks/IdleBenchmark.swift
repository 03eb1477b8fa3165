/// What the workspace costs while nobody touches it.
struct IdleBenchmark {
  private static let seconds = 5

  let demo: DemoInput
  let database: String

  func run(into report: inout Report) throws {
    let program = try TerminalProgram(opening: database, demo: demo)
    try program.rest(milliseconds: 1000)
    let figures = ProcessFigures(processID: program.processID)
    let (cpu, written, received) = (
      figures.cpuSeconds, figures.writtenBytes, program.receivedBytes
    )
    try program.rest(milliseconds: IdleBenchmark.seconds * 1000)
    let used = figures.cpuSeconds - cpu
    let share = Format.decimal(used / Double(IdleBenchmark.seconds) * 100, digits: 1)
    report.add("idle for \(IdleBenchmark.seconds) s: CPU", "\(share) %", aim: "0 %")
    report.add(
      "  bytes written, of them to the terminal",
      "\(figures.writtenBytes - written), \(program.receivedBytes - received)", aim: "0, 0")
    try program.quit()
  }
}
