/// What the workspace costs while nobody touches it.
struct IdleBenchmark {
  let demo: DemoInput
  let seconds: Int

  func run(into report: inout Report) throws {
    let program = try TerminalProgram(opening: demo)
    try program.rest(milliseconds: 1000)
    let figures = ProcessFigures(processID: program.processID)
    let (cpu, written, received) = (
      figures.cpuSeconds, figures.writtenBytes, program.receivedBytes
    )
    let woken = try figures.wakes { try program.rest(milliseconds: seconds * 1000) }
    let used = figures.cpuSeconds - cpu
    let share = Format.decimal(used / Double(seconds) * 100, digits: 1)
    report.add("idle for \(seconds) s: CPU", "\(share) %", aim: "0 %")
    let bytes = figures.writtenBytes - written
    report.add(
      "  bytes written, of them to the terminal",
      "\(bytes), \(program.receivedBytes - received)", value: Double(bytes), aim: .atMost(0))
    report.add("  wakes of all threads", "\(woken)", value: Double(woken), aim: .atMost(1))
    try program.quit()
  }
}
