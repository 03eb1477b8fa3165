# Reads the events of a process of tests, then its output. Prints a line per suite, writes what is
# to be shown of failures to STEM.failed, `passed failed skipped suites` to STEM.counts, and the time
# of each suite to STEM.times.
#
# Variables: status (of the process), suites (that were to run, separated by spaces), stem.

# The text of a field of a line of JSON, without what its escapes mean.
function text(line, name,    start) {
  if (!match(line, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
  start = RSTART + length(name) + 4
  return substr(line, start, RLENGTH - length(name) - 5)
}

# The suite of a test, and the name of the test in it, as `Suite` and `name`.
function split_id(id,    parts, count, i) {
  gsub(/\\\//, "/", id)
  count = split(id, parts, "/")
  Suite = parts[1]
  for (i = 2; i <= count - 2; i++) Suite = Suite "/" parts[i]
  name = parts[count - 1]
  if (!(Suite in tests)) order[++suiteCount] = Suite
}

function is_function(id) { return id ~ /\.swift:[0-9]+:[0-9]+$/ }

FNR == 1 { file++ }

# `file` counts files with lines: without events, the first one is the output.
FILENAME ~ /\.events$/ && /^\{"kind":"test",/ {
  id = text($0, "id")
  if (!is_function(id)) next
  split_id(id)
  tests[Suite]++
  planned[id] = 1
  next
}

FILENAME ~ /\.events$/ && /"kind":"test(Started|Ended|Skipped)"/ {
  id = text($0, "testID")
  if (!is_function(id)) next
  match($0, /"absolute":[0-9.]+/)
  time = substr($0, RSTART + 11, RLENGTH - 11)
  split_id(id)
  if ($0 ~ /"kind":"testStarted"/) { started[id] = time; next }
  delete planned[id]
  if ($0 ~ /"kind":"testSkipped"/) { skipped++; next }
  seconds[Suite] += time - started[id]
  if ($0 ~ /"symbol":"fail"/) { failed++; failedIn[Suite]++; failedName[name] = 1 } else passed++
  next
}

FILENAME ~ /\.events$/ { next }

{ output[++lines] = $0 }

END {
  for (id in planned) {
    split_id(id)
    failed++
    failedIn[Suite]++
    unfinished[++unfinishedCount] = Suite " " name (id in started ? "" : " (not begun)")
  }
  for (i = 1; i <= suiteCount; i++) {
    s = order[i]
    shown = s
    sub(/^[^.]*\./, "", shown)
    target = s
    sub(/\..*/, "", target)
    printf "%-6s %8.2f s %5d  %s: %s\n", (failedIn[s] ? "FAILED" : "ok"), seconds[s], tests[s],
      target, shown
    printf "%.2f s %s: %s\n", seconds[s], target, shown > (stem ".times")
  }
  expected = split(suites, wanted, " ")
  if (suiteCount == 0) {
    # The process ended before it said which tests there are.
    for (i = 1; i <= expected; i++) printf "FAILED            not begun  %s\n", wanted[i]
    failed = expected
  }
  # The tests are well, and the process is not.
  if (status != 0 && !failed) { failed = 1; brokenOff = 1 }
  fflush()
  if (failed) report()
  printf "%d %d %d %d\n", passed, failed, skipped, suiteCount > (stem ".counts")
}

# Writes what failed: the names of tests that did not end, and of the output what is theirs.
function report(    out, i, isShown) {
  out = stem ".failed"
  print "" > out
  if (unfinishedCount || suiteCount == 0 || brokenOff) {
    print "The process that ran " suites " " ending() > out
    for (i = 1; i <= unfinishedCount; i++) print "  did not end: " unfinished[i] > out
    # What it said last tells why.
    for (i = (lines > 60 ? lines - 59 : 1); i <= lines; i++) print output[i] > out
    return
  }
  for (i = 1; i <= lines; i++) {
    if (output[i] ~ /^(◇|✔|✘|➜|⚠|△)/) isShown = output[i] ~ /^✘/
    # A suite fails because of its tests, and the run because of its suites.
    if (output[i] ~ /^✘ (Suite|Test run) /) isShown = 0
    if (isShown) print output[i] > out
  }
}

function ending() {
  if (status == 124) return "was stopped after its time (TEST_SECONDS_MAX)."
  if (status == 137) return "died of signal 9, which others send: for want of memory, or of time."
  if (status > 128) return "died of signal " status - 128 "."
  return "ended with status " status "."
}
